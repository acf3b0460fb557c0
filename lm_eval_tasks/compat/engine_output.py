"""`vllm`: why its engine did not start. `LLM(...)` says only that it did not; its processes log the reason.

While it starts, their errors also go into a file, by the configuration of logging that vLLM lets one give
(https://docs.vllm.ai/en/latest/examples/others/logging_configuration.html). A public way would be the reason in the error that `LLM`
raises.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

_FILE = "VLLM_LOGGING_CONFIG_PATH"
_SWITCH = "VLLM_CONFIGURE_LOGGING"
_HANDLER = "academiceval"
_ELSEWHERE = ("ray", "external_launcher")
_MANY = ("nnodes", "data_parallel_size")


@contextmanager
def errors_kept(arguments: Mapping[str, object]) -> Iterator[list[str]]:
    """Within this block, errors that vLLM's processes log are kept too.

    Args:
        arguments: of the model; processes on other machines could not read the configuration.

    Yields:
        A list that has their lines if the block raises. It stays empty if the user configures logging, or switches it off.
    """
    from vllm import logger

    kept: list[str] = []
    if os.environ.get(_FILE) or os.environ.get(_SWITCH) == "0" or _is_elsewhere(arguments):
        yield kept
        return
    # It stays as long as processes may start.
    folder = Path(mkdtemp(prefix="academiceval-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    errors, config = folder / "errors.log", folder / "logging.json"
    config.write_text(json.dumps(_with_file(logger.DEFAULT_LOGGING_CONFIG, errors)), encoding="utf-8")
    handler = logging.FileHandler(errors, encoding="utf-8")
    handler.setLevel(logging.ERROR)
    # Processes that are forked have this one's handlers, others read the configuration.
    logging.getLogger("vllm").addHandler(handler)
    os.environ[_FILE] = str(config)
    try:
        yield kept
    except BaseException:
        kept += errors.read_text(encoding="utf-8", errors="replace").splitlines()
        raise
    finally:
        os.environ.pop(_FILE, None)
        _remove_handlers(errors)


def _is_elsewhere(arguments: Mapping[str, object]) -> bool:
    many = any(str(arguments.get(key) or 1) != "1" for key in _MANY)
    return many or arguments.get("distributed_executor_backend") in _ELSEWHERE


def _remove_handlers(errors: Path) -> None:
    """Those that write into the file: ours, and what vLLM has put in its place by the configuration."""
    log = logging.getLogger("vllm")
    for handler in list(log.handlers):
        if isinstance(handler, logging.FileHandler) and Path(handler.baseFilename) == errors:
            log.removeHandler(handler)
            handler.close()


def _with_file(config: dict[str, Any], errors: Path) -> dict[str, object]:
    """A configuration of logging whose loggers also write their errors into a file."""
    handler = {"class": "logging.FileHandler", "level": "ERROR", "filename": str(errors), "encoding": "utf-8"}
    loggers = {
        name: {**entry, "handlers": [*entry.get("handlers", []), _HANDLER]} for name, entry in config["loggers"].items()
    }
    return {**config, "handlers": {**config["handlers"], _HANDLER: handler}, "loggers": loggers}
