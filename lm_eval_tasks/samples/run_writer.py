"""Writing a run: its samples, and a file of results that names them and their hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.files import write_together
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.samples.results import OURS, RESULTS, Score

_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-f]+(?=>)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What we add to lm-eval's results.

    Attributes:
        run: how the run was asked for.
        subsets: task -> how many of its samples were run and how many there are, for tasks of which only a part was run.
        datasets: revisions of the dataset.
        months, licenses: task -> month of publication, or licence, of papers -> number of samples and mean headline scores.
        failures: task -> metric -> of how many samples it could not be computed.
        lengths, places: task -> bin of prompt lengths, or third of the context where the answers stand, -> n, mean and interval, see
            `stats.by_place`.
        gains: what reading is worth, see `stats.gains.Gain`.
        usage: what the answers used.
        runs: each run that brought tasks: its `tasks`, its `date` in seconds since 1970 and its `usage`; empty for merged shards.
        made_with: versions of what made the answers.
        files: name -> sha256 of the files of samples; those of earlier runs are given, the others are added as they are written.
    """

    run: Mapping[str, Any]
    rounds: Sequence[str]
    prompt_versions: Sequence[int]
    scores: Sequence[Score]
    subsets: Mapping[str, tuple[int, int]]
    datasets: Sequence[str]
    months: Mapping[str, Mapping[str, Mapping[str, float]]]
    licenses: Mapping[str, Mapping[str, Mapping[str, float]]]
    failures: Mapping[str, Mapping[str, int]]
    lengths: Mapping[str, Mapping[str, Mapping[str, Any]]]
    places: Mapping[str, Mapping[str, Mapping[str, Any]]]
    gains: Sequence[Any]
    usage: Mapping[str, Any]
    made_with: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]] = ()
    files: Mapping[str, str] | None = None


def write_run(
    samples: Mapping[str, Iterable[Mapping[str, Any]]],
    lm_evals: Mapping[str, Any],
    block: Block,
    model: str,
    output: Path,
) -> None:
    """Write a run's samples and results; the file of results exists only while it matches all samples.

    Args:
        samples: task -> its samples as lm-eval logs them, see `sample.compact`.
        lm_evals: the results without our block.
    """
    output.mkdir(parents=True, exist_ok=True)
    hashes = {f"samples_{task}_{model}.jsonl": hashlib.sha256() for task in samples}

    def text_of(lines: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
        for line in lines:
            text = json.dumps(line, default=str, ensure_ascii=False) + "\n"
            hashes[name].update(text.encode())
            yield text

    def results() -> Iterator[str]:
        """Their text, once all samples are written."""
        written = {name: digest.hexdigest() for name, digest in hashes.items()}
        files = dict(sorted({**(block.files or {}), **written}.items()))
        content = redact({**lm_evals, OURS: asdict(replace(block, files=files))})
        text = json.dumps(content, default=_text_of, ensure_ascii=False, indent=1)
        # The memory address of a function is not part of a result.
        yield _ADDRESS.sub("", text)

    texts = {output / name: text_of(lines, name) for name, lines in zip(hashes, samples.values(), strict=True)}
    write_together({**texts, output / f"{RESULTS}{model}.json": results()})


def _text_of(value: object) -> Any:
    """What JSON has no form for, as text."""
    return redact(str(value))
