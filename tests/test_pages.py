"""The README and every page of the docs, typed as they stand: each command is run, one block after another."""

from __future__ import annotations

import json
import lzma
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from datasets import load_dataset

from builder.round.model import load_round
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.judge.verdict import OVERALL
from standins import hub_server, openai_server
from standins.hub_server import Hub, hub_environment
from standins.llama import make_llama
from standins.places import BIN, DATA
from standins.rounds import SMALL_SOURCE, run
from tests.builder.dataset.test_settings_audit_copies import reference
from tests.faults.cases import questions
from tests.helpers.linked_tasks import linked_tasks
from tests.helpers.pages import PAGES, ROOT, blocks
from tests.helpers.served import Command
from tests.helpers.warm import Warm, warm

pytestmark = pytest.mark.slow

ADDRESS = "http://127.0.0.1:8000/v1"  # of the pages' model server
BERTSCORE_MODEL = "microsoft/deberta-xlarge-mnli"
_LAYERS = 41  # one more than bert_score uses of that model
# What some commands need that a test does not have.
NOT_HERE = {
    r"^make test": "runs this test",
    r"^pip (install|download)": "fetches packages from the network",
    r"--config llama-3": "needs a GPU; tests/test_first_round.py reads the file as the command does",
    r"pretrained=Qwen/": "needs a real model's tokenizer",
    r"pretrained=FOLDER": "needs a real model's weights",
    r"rounds/(zero|new)|--dataset (zero|new)": "needs the papers of a round by id; tests/test_round_zero.py fills two",
    r"smollm2|docs/results": "runs beside the repository's own files; tests/lm_eval_tasks/stats/test_compare.py reads them",
    r"^ray |^RAY_ADDRESS=": "needs several machines; the tests of engines run a round on a cluster on this one",
}
if not DATA.is_dir():
    NOT_HERE["scalar-papers"] = f"needs SCALAR's papers, which are not here ({DATA})"
# What stands in for set-up, a GPU, files of the reader's own, a certain day, and what is fetched from the network.
INSTEAD = (
    (
        "make demo",
        f'ln -s "$(dirname "$(command -v academiceval)")" bin && make -f {ROOT}/Makefile -o setup-demo BIN=bin demo',
    ),
    ("init --source europepmc --field neuroscience --contact you@example.org", "init --source sample"),
    ("--model vllm/ORG/MODEL", "--model hf/ORG/MODEL -M do_sample=false"),
    ("--model vllm", "--model hf"),
    ("max_model_len", "max_length"),
)
ROUND = f"""round = "2026.11"
seed = 7
{SMALL_SOURCE}[split]
validation = 0.2
test = 0.1
"""


@dataclass(frozen=True)
class Desk:
    """Where the pages' commands are typed.

    Attributes:
        environment: for the commands, with the programs first in PATH.
        server: of the pages' address; it answers as a model and as a judge.
    """

    hub: Hub
    server: openai_server.Server
    interpreter: Warm
    environment: Mapping[str, str]

    def type(self, script: str, place: Path) -> str:
        """Run the lines of a script in a folder, up to the first that fails, which fails the test; return what they print."""
        script = script.replace(ADDRESS, self.server.url)
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=place, env=self.environment, capture_output=True, text=True, check=False)
        # Inspect ends with 0 whatever happens.
        is_good = done.returncode == 0 and "Traceback" not in done.stdout + done.stderr
        assert is_good, f"{script}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def python(self, script: str, place: Path) -> None:
        """Run a Python script in a folder."""
        self.interpreter.run(["python", "-c", script], cwd=place, env=self.environment, check=True)


def make_models(folder: Path, texts: list[str]) -> None:
    """A tiny Llama whose answers end early, and a tiny BERT with as many layers as the model that bert_score takes."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    make_llama(folder / "llama", texts=texts, vocabulary=4000, ends=400)
    tokenizer = AutoTokenizer.from_pretrained(folder / "llama")
    tokenizer.add_special_tokens({"cls_token": "<s>", "sep_token": "</s>"})
    tokenizer.save_pretrained(folder / "bert")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=_LAYERS, num_attention_heads=1, intermediate_size=8
    )
    BertModel(config).save_pretrained(folder / "bert")


def _answer(body: dict[str, Any]) -> str:
    """A judge's verdict if one is asked for, which is not always the same, else a text."""
    asked = json.dumps(body["messages"])
    if OVERALL not in asked:
        return "We study how readers read. The answer is: [2]"
    winner = 1 + crc32(asked.encode()) % 2
    return openai_server.FIRST_WINS.replace("[Answer 1]", f"[Answer {winner}]")


def evaluated(model: str, output: str) -> str:
    """The command that makes a run of a baseline."""
    return f"academiceval eval --model {model} --tasks academiceval_title_10k --bertscore none --output {output}"


# What a page takes for granted: made by commands that other pages explain.
BEFORE = {
    "README.md": [evaluated("lead", "results/lead"), evaluated("random-sentence", "results/random-sentence")],
    "docs/first_round.md": [evaluated("lead", "results/lead")],
    "docs/publish.md": [evaluated("lead", "results/model"), evaluated("random-sentence", "theirs/model")],
    "docs/reading.md": [
        "printf '\\n[reading]\\nconfigurations = [\"Walk-128K\"]\\ncontexts = 2\\n' >> round.toml",
        "academiceval run round.toml --replace",
    ],
    "docs/recall.md": [
        "printf '\\n[recall]\\nsizes = [\"4K\"]\\n' >> round.toml",
        "academiceval run round.toml --replace",
    ],
    "docs/report.md": [evaluated("lead", "results/lead")],
    "docs/tutorial.md": ["rm -r work academiceval"],
}


def needs(line: str) -> str | None:
    """Why a command cannot be run here, if it cannot."""
    return next((reason for pattern, reason in NOT_HERE.items() if re.search(pattern, line)), None)


def here(text: str) -> str:
    """A command or a file with what is there in place of what is not."""
    for shown, ours in INSTEAD:
        text = text.replace(shown, ours)
    return text


def prepare(place: Path, base: Path) -> None:
    """Make the folder in which a page's commands are typed."""
    shutil.copytree(base, place)
    reference(place / "AcademicEval")
    (place / "scalar").mkdir()
    for question, level in zip(questions(), ("easy", "medium", "hard"), strict=True):
        (place / "scalar" / f"{level}.json").write_text(json.dumps({**question, "level": level}))
    if DATA.is_dir():
        with lzma.open(DATA / "scalar" / "papers.jsonl.xz") as papers:
            (place / "papers.jsonl").write_bytes(papers.read())


SHOWN = [page for page in PAGES if any(block.commands for block in blocks(page))]


@pytest.fixture(scope="module")
def base(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what most pages take for granted: a round, its folder, and prices."""
    place = tmp_path_factory.mktemp("base")
    shutil.copytree(world / "work", place / "work")
    (place / "round.toml").write_text(ROUND)
    run(load_round(place / "round.toml"), LocalEngine(2))
    (place / "prices.toml").write_text('["ORG/MODEL"]\ninput = 0.5\noutput = 1.5\n')
    shutil.copytree(next((place / "work").rglob("*.pdf")).parent, place / "pdf")
    shutil.copyfile(next((place / "work").rglob("*.pdf")), place / "paper.pdf")
    shutil.copyfile(next((place / "work").rglob("*.html")), place / "page.html")
    return place


@pytest.fixture(scope="module")
def reader(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with its caches in a folder of its own; its models' tokenizers have learnt from the papers."""
    folder = tmp_path_factory.mktemp("desk")
    make_models(folder, load_dataset(str(base / "academiceval"), "Title-10K", split="train")["content"])
    with hub_server.serve() as hub, openai_server.serve(_answer) as server:
        environment = hub_environment(hub.url, folder / "home") | {
            "HF_HUB_DISABLE_XET": "1",
            "OPENAI_BASE_URL": server.url,
            "INSPECT_DISPLAY": "plain",
            "XDG_DATA_HOME": str(folder / "home"),
            "SLURM_ARRAY_TASK_ID": "0",
            "SLURM_ARRAY_TASK_COUNT": "1",
        }
        hub.add_model("ORG/MODEL", folder / "llama")
        hub.add_model(BERTSCORE_MODEL, folder / "bert")
        with warm(environment) as interpreter:
            (folder / "bin").mkdir()
            for name in ("academiceval", "lm_eval"):
                interpreter.command(folder / "bin", name)
            environment["PATH"] = f"{folder / 'bin'}:{BIN}:{environment['PATH']}"
            yield Desk(hub, server, interpreter, environment)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_a_page_runs(page: Path, reader: Desk, base: Path, tmp_path: Path, shared_tmp: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    prepare(tmp_path / "place", base)
    if name == "docs/round.md":
        setting = next(block.text for block in blocks(page) if block.text.startswith("[[setting]]"))
        with (tmp_path / "place" / "round.toml").open("a") as file:
            file.write(f"\n{setting}")
    reader.type("\n".join(BEFORE.get(name, ())), tmp_path / "place")
    with linked_tasks(shared_tmp) if "\nlm_eval " in page.read_text() else nullcontext():
        read(page, reader, tmp_path / "place")


def read(page: Path, reader: Desk, place: Path) -> None:
    """Type the blocks of a page in a folder, one after another, each with a Hub without datasets.

    Lines of a block of text behind commands are what these print, with numbers of their own.
    """
    printed: set[str] = set()
    for block in blocks(page):
        reader.hub.forget_datasets()
        if block.language == "python":
            reader.python(block.text, place)
        elif block.language == "text":
            assert not printed or open_numbers(block.text) <= printed, sorted(open_numbers(block.text) - printed)
        elif block.commands:
            lines = [here(line) for line in block.commands if not needs(line)]
            printed = open_numbers(reader.type("\n".join(lines), place)) if lines else set()


def open_numbers(text: str) -> set[str]:
    """Return the lines of a text, with a mark in place of each number, with its interval if it has one here."""
    lines = (re.sub(r"[-+]?\d[\d.,:]*", "#", line).strip() for line in text.splitlines())
    return {line.replace(" [# #]", "") for line in lines} - {"", "..."}


def test_what_a_reader_of_the_readme_runs_first(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load the demo's dataset, evaluate a baseline, compare it with another; `make pages` runs all the rest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "academiceval").symlink_to(dataset)
    [python] = [block for block in blocks(ROOT / "README.md") if block.language == "python"]
    exec(compile(python.text, "README.md", "exec"), {})
    commands = [line for block in blocks(ROOT / "README.md") for line in block.commands]
    [evaluation] = [line for line in commands if line.startswith("academiceval eval --model lead")]
    [comparison] = [line for line in commands if line.startswith("academiceval compare")]
    for model, output in (("lead", "lead"), ("random-sentence", "random-sentence")):
        words = shlex.split(evaluation.replace("--model lead", f"--model {model}"))
        words[words.index("--output") + 1] = f"results/{output}"
        code, out, err = command(*words[1:], "--limit", "4")
        assert code == 0, err
        assert "rouge_l" in out
    code, out, err = command(*shlex.split(comparison)[1:])
    assert code == 0, err
    assert "Abs-9K" in out
