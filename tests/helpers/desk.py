"""What a reader of the pages has: the programs, a Hub with models on it, servers, and a folder in which to type."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from lm_eval_tasks.judge.verdict import OVERALL
from standins import hub_server, openai_server
from standins.hub_server import Hub, hub_environment
from standins.llama import make_llama
from standins.places import BIN
from tests.helpers.warm import Warm, warm

ADDRESS = "http://127.0.0.1:8000/v1"  # of the pages' model server
BERTSCORE_MODEL = "microsoft/deberta-xlarge-mnli"
_LAYERS = 41  # one more than bert_score uses of that model
MODELS = ("ORG/MODEL",)


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


@contextmanager
def desk(folder: Path, texts: list[str]) -> Iterator[Desk]:
    """A desk with its caches in a folder.

    Args:
        texts: of the papers, from which the models' tokenizers learn.
    """
    make_models(folder, texts)
    with ExitStack() as stack:
        hub = stack.enter_context(hub_server.serve())
        server = stack.enter_context(openai_server.serve(_answer))
        environment = hub_environment(hub.url, folder / "home") | {
            "HF_HUB_DISABLE_XET": "1",
            "OPENAI_BASE_URL": server.url,
            "INSPECT_DISPLAY": "plain",
            "XDG_DATA_HOME": str(folder / "home"),
            "SLURM_ARRAY_TASK_ID": "0",
            "SLURM_ARRAY_TASK_COUNT": "1",
        }
        interpreter = stack.enter_context(warm(environment))
        (folder / "bin").mkdir()
        for name in ("academiceval", "lm_eval"):
            interpreter.command(folder / "bin", name)
        environment["PATH"] = f"{folder / 'bin'}:{BIN}:{environment['PATH']}"
        one = Desk(hub, server, interpreter, environment)
        for name in MODELS:
            hub.add_model(name, folder / "llama")
        hub.add_model(BERTSCORE_MODEL, folder / "bert")
        yield one


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
