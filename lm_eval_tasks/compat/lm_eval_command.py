"""`lm_eval`: what its command line knows and does not hand to tasks, though prompts must leave room for it: the system prompt and the
length of answers. A public way would be to find them in the metadata that `custom_dataset` is given.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lm_eval_tasks.base.errors import EvalError

_MAX_GEN_TOKS = re.compile(r"max_gen_toks\W+(\d+)")


@dataclass(frozen=True, slots=True)
class RunArguments:
    """What a run's command line says that tasks are not handed: the system prompt, the length of answers if it sets one, the
    keys of its metadata, and whether prompts go through the chat template.
    """

    system_instruction: str = ""
    max_gen_toks: int | None = None
    metadata: tuple[str, ...] = ()
    apply_chat_template: bool = False


def is_lm_eval() -> bool:
    """Tell whether this process is lm-eval's command line."""
    program = Path(sys.argv[0])
    # As a command, or by `python -m`.
    return (program.parent.name if program.stem == "__main__" else program.stem) in ("lm_eval", "lm-eval")


@contextmanager
def errors_end_the_process() -> Iterator[None]:
    """End the process with an error's sentence under lm-eval's command line, which would show a traceback."""
    try:
        yield
    except EvalError as err:
        if is_lm_eval():
            from lm_eval_tasks.base.redaction import redact

            raise SystemExit(redact(f"error: {err}")) from None
        raise


def run_arguments() -> RunArguments:
    """Read the command line, and the file that its --config names; empty in any other program."""
    if not is_lm_eval():
        return RunArguments()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--system_instruction")
    parser.add_argument("--gen_kwargs", nargs="+")
    parser.add_argument("--metadata", nargs="+", action="extend", default=[])
    parser.add_argument("--apply_chat_template", nargs="?", const=True, default=False)
    parser.add_argument("--config", "-C", type=Path)
    arguments, _ = parser.parse_known_args(sys.argv[1:])
    file: dict[str, object] = {}
    # lm-eval itself reports a file that cannot be read.
    if arguments.config and arguments.config.is_file():
        import yaml

        read = yaml.safe_load(arguments.config.read_text(encoding="utf-8"))
        file = read if isinstance(read, dict) else {}
    return RunArguments(
        str(arguments.system_instruction or file.get("system_instruction") or ""),
        max_gen_toks(str(arguments.gen_kwargs or file.get("gen_kwargs") or "")),
        tuple(key for given in arguments.metadata or [file.get("metadata")] for key in _entries(given)),
        bool(arguments.apply_chat_template or file.get("apply_chat_template")),
    )


def _entries(metadata: object) -> dict[str, object]:
    """Return the entries of --metadata, which lm-eval takes as JSON or as key=value,..."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return {key.strip(): value for key, _, value in (pair.partition("=") for pair in str(metadata).split(","))}
    return metadata if isinstance(metadata, dict) else {}


def max_gen_toks(gen_kwargs: str) -> int | None:
    """Return the length of answers that generation arguments set, in any of the ways to write it; None if they set none."""
    match = _MAX_GEN_TOKS.search(gen_kwargs)
    return int(match[1]) if match else None
