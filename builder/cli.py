"""The command `academiceval`: put together from what each package registers. Exit 0 done, 1 a named error or wrong usage."""

import argparse
import logging
import os
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from builder.errors import BuildError
from lm_eval_tasks.base.command_line import Commands
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.redaction import safe_text
from lm_eval_tasks.base.tables import is_beside, text_lines

# The modules that add commands, in the order in which help lists them.
_COMMANDS = (
    "builder.commands",
    "builder.file_commands",
    "lm_eval_tasks.evaluation_commands",
    "lm_eval_tasks.result_commands",
    "lm_eval_tasks.exchange_commands",
    "hub_scripts.commands",
)
# Extra of academiceval -> what it installs, as it is imported.
_EXTRAS = {
    "builder": "arxiv datasketch lxml networkx pydantic pymupdf httpx2 zstandard",
    "ralm": "bm25s langchain_text_splitters sentence_transformers",
    "judge": "openai",
    "report": "itables jinja2 matplotlib",
}


def all_commands() -> Commands:
    """Return the commands of all packages, in the order in which they are used."""
    commands = Commands()
    for name in _COMMANDS:
        import_module(name).register(commands)
    return commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = all_commands().parse(argv)
    _set_up_output(arguments)
    form = arguments.show if arguments.show != "auto" else "terminal" if sys.stdout.isatty() else "markdown"
    try:
        for item in arguments.command(arguments):
            stream = sys.stderr if is_beside(item, form) else sys.stdout
            for line in text_lines(item, form, all_columns=arguments.all_columns):
                print(safe_text(line), file=stream, flush=True)
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _report_failure("stopped; the same command resumes from here")
    except (BuildError, EvalError, ModuleNotFoundError, sqlite3.Error, OSError) as err:
        return _report_failure(f"error: {_sentence(err)}")
    return 0


def _set_up_output(arguments: argparse.Namespace) -> None:
    handler = logging.lastResort
    if arguments.verbose:
        handler = logging.StreamHandler()
        logging.basicConfig(level=logging.INFO, handlers=[handler])
    if handler:
        handler.setFormatter(_SafeFormatter(logging.BASIC_FORMAT if arguments.verbose else None))
    if arguments.quiet or not sys.stderr.isatty():
        # The libraries' progress bars are for interactive use.
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("TQDM_DISABLE", "1")
    if arguments.command_name == "eval" and (arguments.model == "vllm" or _names_vllm(arguments.config)):
        # VLLM divides by what its bar has counted.
        os.environ.pop("TQDM_DISABLE", None)
    # It imports tqdm, which reads what is set above when it is imported.
    from lm_eval_tasks.base import progress

    progress.begin()
    if arguments.quiet:
        progress.silence()
        logging.disable(logging.WARNING)


def _names_vllm(config: Path | None) -> bool:
    """Tell whether a file of options may be one for vLLM."""
    try:
        return config is not None and "vllm" in config.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False  # the command itself says what is wrong with it


class _SafeFormatter(logging.Formatter):
    """Log records without secrets, and without what moves a terminal's cursor."""

    def format(self, record: logging.LogRecord) -> str:
        return safe_text(super().format(record))


def _report_failure(message: str) -> int:
    print(safe_text(message), file=sys.stderr)
    return 1


def _sentence(err: Exception) -> str:
    """Return what to tell a user; anything else is raised again."""
    if isinstance(err, ModuleNotFoundError):
        missing = (err.name or "").partition(".")[0]
        extra = next((extra for extra, names in _EXTRAS.items() if missing in names.split()), None)
        if extra is None:
            raise err
        return f'this command needs {err.name}: pip install "academiceval[{extra}]"'
    if isinstance(err, sqlite3.Error):
        from builder.store import advice

        return f"the workspace's store cannot be used: {err}; {advice(err)}"
    if isinstance(err, OSError):
        return f"{_visible(err.filename) or 'the operating system'}: {err.strerror or err}"
    return str(err)


def _visible(name: object) -> str:
    """Return the file that a lock or a part of it is for, which is the one that a user knows."""
    path = Path(str(name or ""))
    if path.name.startswith(".") and path.suffix in (".lock", ".part"):
        return str(path.with_name(path.name[1:].removesuffix(path.suffix)))
    return str(name or "")


if __name__ == "__main__":
    sys.exit(main())
