"""Writing a run: its samples, and a file of results that names them and their hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.base.files import write_together
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.samples.block import OURS
from lm_eval_tasks.samples.results import RESULTS

if TYPE_CHECKING:
    from lm_eval_tasks.samples.block import Arguments, Block
    from lm_eval_tasks.samples.sample import Logged

_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-f]+(?=>)")


def write_run(
    samples: Mapping[str, Iterable[Logged]],
    lm_evals: Arguments,
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

    def text_of(lines: Iterable[Logged], name: str) -> Iterator[str]:
        for line in lines:
            text = json.dumps(line, default=str, ensure_ascii=False) + "\n"
            hashes[name].update(text.encode())
            yield text

    def results() -> Iterator[str]:
        """Their text, once all samples are written."""
        written = {name: digest.hexdigest() for name, digest in hashes.items()}
        files = dict(sorted({**block.files, **written}.items()))
        content = redact({**lm_evals, OURS: asdict(replace(block, files=files))})
        text = json.dumps(content, default=_text_of, ensure_ascii=False, indent=1)
        # The memory address of a function is not part of a result.
        yield _ADDRESS.sub("", text)

    texts = {output / name: text_of(lines, name) for name, lines in zip(hashes, samples.values(), strict=True)}
    write_together({**texts, output / f"{RESULTS}{model}.json": results()})


def _text_of(value: object) -> object:
    """What JSON has no form for, as text."""
    return redact(str(value))
