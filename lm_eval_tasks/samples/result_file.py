"""The files of a run: samples, and results with all that made them."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.errors import OptionError, SamplesError
from lm_eval_tasks.core.files import sha256_of_bytes, write_together
from lm_eval_tasks.core.redaction import redacted
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.llm.usage import total
from lm_eval_tasks.samples import logged

if TYPE_CHECKING:
    from lm_eval.api.model import LM

    from lm_eval_tasks.evaluate.answers import Counts
    from lm_eval_tasks.evaluate.generation import Generation
    from lm_eval_tasks.llm.budget import Means

_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-f]+(?=>)")
_PACKAGES = (
    "academiceval",
    "lm_eval",
    "datasets",
    "transformers",
    "torch",
    "vllm",
    "openai",
    "bert_score",
    "rouge_score",
)


def usage_of(counts: Counts, means: Means) -> dict[str, Any]:
    """What the answers of a run used: tokens, finish reasons, seconds, retries, and money if a price is known."""
    return {
        **total(counts.usages), "answers": len(counts.usages), "asked_in_this_run": counts.asked, "seconds": round(counts.seconds, 3),
        "retries": counts.retries, "cost": means.cost(counts.usages),
    }  # fmt: skip


def made_with(lm: LM, generation: Generation) -> dict[str, Any]:
    """Versions of what made the answers, and the sha256 of the chat template; None for what is not known."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    template = lm.chat_template(True) if generation.apply_chat_template else None
    return {"versions": versions, "chat_template": sha256_of_bytes(template) if template else None}


def results_in(folder: Path) -> list[Path]:
    """The files of results in a folder, by name."""
    return sorted(folder.glob("results_*.json"))


def only_result(folder: Path, owner: str = "the output folder of a run") -> Path:
    """The file of results of a folder that has one.

    Args:
        owner: what such a folder is, for the message.

    Raises:
        SamplesError: it has none, or several.
    """
    files = results_in(folder)
    if len(files) != 1:
        raise SamplesError(f"{folder} contains {len(files) or 'no'} results_*.json; {owner} has one")
    return files[0]


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """The content of a file of results.

    Raises:
        SamplesError: the file cannot be read, or lacks what the block looks for.
    """
    try:
        yield parse_json(file.read_bytes())
    except (OSError, OptionError, *ODD) as err:
        raise SamplesError(f"{file} is not a result of `academiceval eval` ({err})") from err


def write(results: dict[str, Any], ours: Mapping[str, Any], label: str, output: Path) -> None:
    """Write a run's samples and results; the file of results exists only while it matches all samples."""
    samples = {task: (logged.compact(row) for row in rows) for task, rows in results.pop("samples").items()}
    write_files(samples, {**results, "academiceval": ours}, label, output)


def write_files(
    samples: Mapping[str, Iterable[Mapping[str, Any]]], content: Mapping[str, Any], label: str, output: Path
) -> None:
    """Write samples as they are logged, and the content of the file of results."""
    output.mkdir(parents=True, exist_ok=True)
    files: dict[Path, Iterable[str]] = {
        output / f"samples_{task}_{label}.jsonl": (
            json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows
        )
        for task, rows in samples.items()
    }
    text = json.dumps(redacted(content), default=_shown, ensure_ascii=False, indent=1)
    # The memory address of a function is not part of a result.
    write_together({**files, output / f"results_{label}.json": [_ADDRESS.sub("", text)]})


def _shown(value: object) -> Any:
    """What JSON has no form for, as text."""
    return redacted(str(value))
