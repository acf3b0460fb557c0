"""Shared fixtures: a small made-up world, a round built over it, and the real papers where they are."""

from __future__ import annotations

import os

# No test may leave this machine, and none may wait for a name that cannot be resolved.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TQDM_DISABLE"] = "1"
# Two test processes share the processors already.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import functools
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from builder.cli import main
from builder.pipeline import run
from builder.round.model import Round
from builder.round.source import SampleTable
from builder.round.tables import SplitTable
from builder.store import Store
from lm_eval_tasks.engines.local import LocalEngine
from tests.helpers import hub_server as hub_server_module
from tests.helpers.hub_server import hub_settings
from tests.helpers.warm import Warm
from tests.helpers.warm import warm as warm_interpreter

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BIN = Path(sys.executable).parent
CONTEXT = 6144  # tokens of the tiny Llama: less than any prompt of the small world, more than its uncuttable parts


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the real papers where they are not, saying so."""
    skip = pytest.mark.skip(reason=f"the real papers are not here ({DATA})")
    for item in items:
        if item.get_closest_marker("data") and not DATA.is_dir():
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Caches for each test process, so that no earlier run can answer."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.getbasetemp() / "datasets-cache")
    monkeypatch.delenv("ACADEMICEVAL_DATASET", raising=False)
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    yield


@pytest.fixture(scope="session")
def shared_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


def small_round(folder: Path, **changes: object) -> Round:
    """A round over a small made-up world that all tests share, in a workspace of its own."""
    fields: dict[str, object] = {
        "round": "2026.11",
        "seed": 7,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": SampleTable(kind="sample", authors=20, papers=50),
        "split": SplitTable(validation=0.2, test=0.25),
    }
    return Round.model_validate({**fields, **changes})


@pytest.fixture(scope="session")
def world(shared_tmp: Path) -> Path:
    """A workspace whose world is drawn and extracted; copy it, do not write to it."""
    place = shared_tmp / "small-world"
    with FileLock(shared_tmp / "small-world.lock"):
        if not (place / "academiceval" / "manifest.json").is_file():
            run(small_round(place), LocalEngine(2))
    return place


@pytest.fixture(scope="session")
def dataset(world: Path) -> Path:
    """A finished dataset folder with all sixteen settings."""
    return world / "academiceval"


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Commands in processes of their own, forked from one interpreter that has imported everything."""
    with warm_interpreter() as interpreter:
        yield interpreter


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.sqlite3") as opened:
        yield opened


@functools.cache
def _ask_pip_once() -> None:
    """lm-eval asks pip for all packages at every run, which takes a second; the answer stays the same."""
    from torch.utils import collect_env

    collect_env.get_pip_packages = functools.cache(collect_env.get_pip_packages)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `academiceval ARGUMENTS...` in this process: (exit code, output, errors)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        if "eval" in arguments:
            _ask_pip_once()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def hub_server() -> Iterator[hub_server_module.Hub]:
    with hub_server_module.serve() as serving:
        yield serving


@pytest.fixture
def hub(hub_server: hub_server_module.Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> hub_server_module.Hub:
    """An empty Hub on this machine that the clients in this process take for the real one."""
    hub_server.reset()
    for target, value in hub_settings(hub_server.url, tmp_path / "hf").items():
        monkeypatch.setattr(target, value)
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return hub_server


@pytest.fixture(scope="session")
def two_rounds(world: Path, shared_tmp: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The dataset folders of two rounds with two settings each, of this process alone."""
    own = []
    with FileLock(shared_tmp / "two-rounds.lock"):
        for seed, name in enumerate(("2026.11", "2026.12")):
            place = shared_tmp / "two-rounds" / name
            if not (place / "academiceval" / "manifest.json").is_file():
                shutil.copytree(world / "work", place / "work")
                run(small_round(place, round=name, settings=("Abs-9K", "Intro-28K-G"), seed=seed), LocalEngine(2))
            own.append(tmp_path_factory.mktemp(name) / "academiceval")
            shutil.copytree(place / "academiceval", own[-1])
    return own[0], own[1]


@pytest.fixture(scope="session")
def tiny_llama(shared_tmp: Path) -> Path:
    """A folder with a tiny random Llama, a byte-level tokenizer and a chat template."""
    place = shared_tmp / "tiny-llama"
    with FileLock(shared_tmp / "tiny-llama.lock"):
        if not (place / "config.json").is_file():
            make_llama(place)
    return place


def make_llama(
    place: Path,
    hidden_size: int = 16,
    max_position_embeddings: int = CONTEXT,
    texts: Sequence[str] = ("Please read the following Target Content carefully and summarize it as required.",) * 20,
    vocabulary: int = 600,
    ends: int = 1,
) -> None:
    """Save a tiny random Llama with two attention heads, its tokenizer and a chat template.

    Args:
        texts: that the tokenizer learns from.
        ends: how many tokens end an answer.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.chat_template = (
        "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}</s>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=hidden_size,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=max_position_embeddings,
        bos_token_id=0,
        eos_token_id=1 if ends == 1 else list(range(1, 1 + ends)),
    )
    fast.save_pretrained(place)
    LlamaForCausalLM(config).save_pretrained(place)
