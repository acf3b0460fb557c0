"""The commands that write, each with a small job: what is there before, the command, and what counts of what it leaves."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.dataset.publishable import publishable
from builder.round.model import load_round
from builder.sources.mirror import MirrorSource
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import read_entries
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.exported import export
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL
from lm_eval_tasks.samples.results import JOURNAL
from standins import loopback, openai_server
from standins.jats_world import draw_jats
from standins.rounds import build, crawl_only, run, small_round, stages
from tests.helpers.drawing import PAPER, draw, stack
from tests.helpers.dump import content
from tests.helpers.evaluating import evaluate
from tests.helpers.papers import mirror, paper
from tests.helpers.published import write_reference, write_structured
from tests.helpers.typed_rows import scalar_row
from tests.lm_eval_tasks.judge.test_judge import make_samples

State = dict[str, str]
_ROUND = (
    'round = "2026.11"\nseed = {seed}\nsettings = ["Title-10K"]\n[source]\nkind = "sample"\nauthors = 20\npapers = 50\n'
    "[split]\nvalidation = 0.2\ntest = 0.25\n"
)
# What differs from run to run in what lm-eval writes.
_VOLATILE = (
    "date start_time end_time total_evaluation_time_seconds seconds pretty_env_info git_hash asked_in_this_run".split()
)
# Where a case is tried, in what a command notes.
_HERE = re.compile(rb"/[^\s\"']*/here/")
LOST, SLOW, BUSY, PAGE = "lost answer", "slow answer", "busy server", "page in place of the answer"
_HTML = b"<html><body>Down for maintenance</body></html>"


@dataclass(frozen=True)
class Answer:
    """The answer number `at` of a server goes wrong in one of the ways above."""

    how: str
    at: int


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    log: list[Any]

    @property
    def asked(self) -> int:
        return len(self.log)


@dataclass(frozen=True)
class Case:
    """One command.

    Attributes:
        prepare: makes what is there before the command, in a folder of its own.
        argv: the command in that folder; `{server}` is a server's address.
        output: what it writes, below the folder; `store` of a workspace is compared row by row.
        serve: the server that it asks, if any, with an answer that goes wrong; it tells its `url` and how often it was `asked`.
        whole: whether the output is at any time the old one or the new one.
    """

    name: str
    prepare: Callable[[Path], object]
    argv: tuple[str, ...]
    output: str
    serve: Callable[[Path, Answer | None], AbstractContextManager[Any]] = lambda _, __: nullcontext()
    whole: bool = True

    def state(self, folder: Path) -> State:
        """What the command has written, without what may differ: file -> hash."""
        place = folder / self.output
        if place.name == "store.sqlite3":
            return {"store": repr(content(place, "answers"))} if place.is_file() else {}
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        return {
            path.relative_to(folder).as_posix(): sha256_of_bytes(_HERE.sub(b"", _stable(path)))
            for path in files
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        }


def _stable(path: Path) -> bytes:
    if path.name == JOURNAL or path.name.startswith("verdicts_"):
        newest = {entry["key"]: entry["value"] for entry in read_entries(path) if entry is not None}
        return json.dumps(newest, sort_keys=True).encode()
    if path.suffix == ".jsonl":
        return "\n".join(
            sorted(json.dumps(_without(json.loads(line))) for line in path.read_text().splitlines())
        ).encode()
    if path.suffix == ".json" and path.name != "manifest.json":
        return json.dumps(_without(json.loads(path.read_text())), sort_keys=True).encode()
    return path.read_bytes()


def _without(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without(value) for key, value in content.items() if key not in _VOLATILE}
    return [_without(value) for value in content] if isinstance(content, list) else content


# --- what is there before


def _workspace(folder: Path) -> None:
    """A prepared workspace, and a finished folder of another seed that a build replaces."""
    (folder / "round.toml").write_text(_ROUND.format(seed=7))
    run(small_round(folder, seed=8, settings=("Title-10K",)), LocalEngine(1))


def _small(folder: Path) -> None:
    """A round that is run from nothing: crawl, files, extraction, links, dataset folder."""
    (folder / "round.toml").write_text(
        'round = "2026.11"\nsettings = ["Title-10K"]\n[source]\nkind = "sample"\nauthors = 8\npapers = 14\n'
        "[split]\nvalidation = 0.2\ntest = 0.4\n"
    )


def _nothing(folder: Path) -> None:
    pass


def _dataset(folder: Path) -> None:
    _workspace(folder)
    publishable(folder / "academiceval", folder / "public", "redistributable")
    build(small_round(folder, settings=("Title-10K",)), replace=True)


def _shards(folder: Path) -> None:
    _dataset(folder)
    metadata = {"dataset": str(folder / "academiceval"), "bertscore_model": "none"}
    for i in (1, 2):
        evaluate("lead", "", ["academiceval_title_10k"], {**metadata, "shard": f"{i}/2"}, None, folder / f"shard{i}")


def _answers(folder: Path) -> None:
    _dataset(folder)
    export("Title-10K", "", {"dataset": str(folder / "academiceval")}, folder / "prompts.jsonl")
    rows = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    lines = [json.dumps({**row, "answer": f"A title of {row['id']}"}) + "\n" for row in rows]
    (folder / "answers.jsonl").write_text("".join(lines))


def _articles(folder: Path) -> None:
    draw_jats(folder / "articles", papers=24)
    with tarfile.open(folder / "articles" / "package.tar.gz", "w:gz") as package:
        for file in sorted((folder / "articles").glob("*1.xml")):
            package.add(file, file.name)
            file.unlink()
    text = 'round = "2026.11"\nsettings = ["Title-10K"]\n[source]\nkind = "jats"\npath = "articles"\n'
    (folder / "round.toml").write_text(text + '[graph]\ncomponent = "all"\n[split]\nvalidation = 0.2\ntest = 0.25\n')


def _papers(folder: Path) -> None:
    for i in range(3):
        draw(folder / f"{i}.pdf", [stack(("title", f"Paper number {i}"), *PAPER)])
    (folder / "out.jsonl").write_text("")


def _crawling(folder: Path) -> None:
    names = ["Ada Lovelace", "Bo Ek", "Cy Dee", "Di Fox"]
    papers = [paper(i, names[i % 4], names[(i + 1) % 4], day=i) for i in range(1, 9)]
    mirror(folder / "mirror", papers)


def _updating(folder: Path) -> None:
    """A workspace that was crawled two months ago, and papers that came since."""
    names = ["Ada Lovelace", "Bo Ek", "Cy Dee", "Di Fox"]
    papers = [paper(i, names[(i - 1) % 4], names[i % 4], day=9 * i) for i in range(1, 12)]
    mirror(folder / "mirror", papers)
    with _arxiv(folder, None):
        crawl_only(load_round(folder / "round.toml", round="2026.02"))


@contextmanager
def _arxiv(folder: Path, answer: Answer | None) -> Iterator[Served]:
    with loopback.serve(loopback.World(MirrorSource(folder / "mirror"))) as server:
        if answer is not None:
            replies = {BUSY: (503, {"Retry-After": "0"}, b"busy"), PAGE: (200, {"Content-Type": "text/html"}, _HTML)}
            drip = 0.3 if answer.how == SLOW else 0.0
            server.faults = [loopback.Fault("", replies.get(answer.how), skip=answer.at, drip=drip)]
        table = {**server.tables(), "delay": 0.01, "timeout": 1.0}
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in table.items())
        (folder / "round.toml").write_text(
            f'round = "2026.04"\nsettings = ["Title-10K"]\n[crawl]\nseeds = ["Ada Lovelace"]\n[source]\n{lines}\n'
        )
        yield Served(server.url, server.log)


def _questions(folder: Path) -> None:
    (folder / "scalar").mkdir()
    for i, record in enumerate(questions()):
        (folder / "scalar" / f"{i}.json").write_text(json.dumps(record))


def questions() -> Iterator[dict[str, Any]]:
    """Three made-up questions as SCALAR publishes them."""
    text = "T\n\nAbstract: A\n\n\nbefore **[MASKED_CITATION]** after"
    for i in range(3):
        shown = [
            {"id": str(k), "title": f"Title {k}", "content": f"<Abstract>Abstract: a{k}</Abstract>"} for k in range(4)
        ]
        row = {"question": text, "candidate_text": "full", "candidates": shown}
        yield {
            "question": "".join(slot.text for slot in slots_of(scalar_row(**row))),
            "paper_id": f"http://arxiv.org/abs/2410.0000{i}",
            "id": i,
            "label_id": 1,
            "level": "easy",
            "candidates": [{"id": one["id"], "title": one["title"]} for one in shown],
            "citation": {"section_name": "S", "citation_type": "method"},
            "additional_fields": {
                "paper_field": "full",
                "sample": "random",
                "candidate_fields": ["abstract", "sections"],
            },
        }


def _extracted(folder: Path) -> None:
    """A workspace that knows its papers and has read them."""
    (folder / "round.toml").write_text(
        _ROUND.format(seed=7).replace("authors = 20\npapers = 50", "authors = 8\npapers = 14")
    )
    for _ in stages(load_round(folder / "round.toml"), LocalEngine(1), ("crawl", "extract")):
        pass


@contextmanager
def _judge(_: Path, answer: Answer | None) -> Iterator[Served]:
    verdict = json.dumps({name: {"Winner": "Answer 1"} for name in (*DIMENSIONS, OVERALL)})
    replies = {LOST: None, BUSY: (503, {}, "{}"), PAGE: (200, {"Content-Type": "text/html"}, _HTML.decode())}

    def reply(body: dict[str, Any]) -> str | tuple[int, dict[str, str], str] | None:
        if answer is None or len(server.requests) - 1 != answer.at:
            return verdict
        if answer.how == SLOW:
            time.sleep(1.5)
            return verdict
        return replies[answer.how]

    with openai_server.serve(reply) as server:
        yield Served(server.url, server.requests)


def _samples(folder: Path) -> None:
    make_samples(folder / "run", 4)


def _results(folder: Path) -> None:
    _samples(folder)
    shutil.copytree(folder / "run", folder / "other")


CASES = (
    Case("link", _extracted, ("run", "round.toml", "--only", "link", "--jobs", "1"), "work/store.sqlite3", whole=False),
    Case("init", _nothing, ("init", "round.toml", "--source", "mirror", "--path", "papers"), "round.toml"),
    Case("init pdfs", _papers, ("init", "round.toml", "--source", "pdfs", "--path", "."), "papers.csv"),
    Case("build", _workspace, ("run", "round.toml", "--only", "build", "--replace"), "academiceval"),
    Case("run jats", _articles, ("run", "round.toml", "--jobs", "1"), "academiceval"),
    Case("run", _small, ("run", "round.toml", "--jobs", "1"), "academiceval"),
    Case("crawl", _crawling, ("run", "round.toml", "--until", "crawl"), "work/store.sqlite3", _arxiv, whole=False),
    Case("update", _updating, ("run", "round.toml", "--until", "crawl"), "work/store.sqlite3", _arxiv, whole=False),
    Case("extract", _papers, ("extract", "0.pdf", "1.pdf", "2.pdf", "-o", "out.jsonl", "--jobs", "1"), "out.jsonl"),
    Case("fill", _dataset, ("fill", "public", "round.toml", "-o", "academiceval", "--jobs", "1"), "academiceval"),
    Case("import", _questions, ("import", "scalar", "scalar", "-o", "imported"), "imported"),
    Case(
        "import academiceval",
        lambda folder: write_reference(folder / "reference"),
        ("import", "academiceval", "reference", "-o", "imported"),
        "imported",
    ),
    Case(
        "import scalar-papers",
        lambda folder: write_structured(folder / "papers.jsonl"),
        ("import", "scalar-papers", "papers.jsonl", "-o", "imported"),
        "imported",
    ),
    Case(
        "eval",
        _dataset,
        (
            *"eval --model lead --tasks academiceval_title_10k --limit 3 --output results --metadata".split(),
            '{"dataset": "academiceval", "bertscore_model": "none"}',
        ),
        "results",
        whole=False,
    ),
    Case("merge", _shards, ("merge", "shard1", "shard2", "--output", "merged"), "merged", whole=False),
    Case(
        "export",
        _dataset,
        ("export", "academiceval", "--setting", "Title-10K", "--output", "exported/prompts.jsonl"),
        "exported",
    ),
    Case(
        "score",
        _answers,
        ("score", "answers.jsonl", "--dataset", "academiceval", "--bertscore", "none", "--output", "results"),
        "results",
        whole=False,
    ),
    Case(
        "judge",
        _samples,
        ("judge", "run", "--model", "m", "--base-url", "{server}", "--output", "judged", "--timeout", "1"),
        "judged",
        _judge,
        whole=False,
    ),
    Case("report", _results, ("report", "run", "-o", "site"), "site"),
)
