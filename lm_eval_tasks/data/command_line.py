"""What lm-eval's own command line says and does not hand to tasks, though prompts must leave room for it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lm_eval_tasks.errors import EvalError

_PROGRAMS = ("lm_eval", "lm-eval")
_MAX_GEN_TOKS = re.compile(r"max_gen_toks\W+(\d+)")


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The system prompt of a run, and the length of answers where the run sets one."""

    system_instruction: str = ""
    max_gen_toks: int | None = None


def is_lm_eval() -> bool:
    """Whether this process is lm-eval's command line."""
    return Path(sys.argv[0]).stem in _PROGRAMS


@contextmanager
def told() -> Iterator[None]:
    """Under lm-eval's command line, which would show a traceback, end the process with an error's sentence."""
    try:
        yield
    except EvalError as err:
        if is_lm_eval():
            raise SystemExit(f"error: {err}") from None
        raise


def arguments() -> RunArguments:
    """Read the command line, and the file that its --config names; empty in any other program."""
    if not is_lm_eval():
        return RunArguments()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", "-C", type=Path)
    parser.add_argument("--system_instruction")
    parser.add_argument("--gen_kwargs", nargs="+")
    given, _ = parser.parse_known_args(sys.argv[1:])
    file = _read(given.config)
    return RunArguments(
        str(given.system_instruction or file.get("system_instruction") or ""),
        max_gen_toks(str(given.gen_kwargs or file.get("gen_kwargs") or "")),
    )


def max_gen_toks(gen_kwargs: str) -> int | None:
    """The length of answers that generation arguments set, in any of the ways to write them; None where they set none."""
    found = _MAX_GEN_TOKS.search(gen_kwargs)
    return int(found[1]) if found else None


def _read(path: Path | None) -> dict[str, Any]:
    # lm-eval itself says what is wrong with a file that cannot be read.
    if path is None or not path.is_file():
        return {}
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read if isinstance(read, dict) else {}
