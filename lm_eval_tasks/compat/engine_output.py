"""`vllm`: why its engine did not start. `LLM(...)` says only that it did not; its processes log the reason.

While it starts, their errors also go into a file, by the configuration of logging that vLLM lets one give
(https://docs.vllm.ai/en/latest/examples/others/logging_configuration.html). A public way would be the reason in the error that `LLM`
raises.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_CONFIGURED = "VLLM_LOGGING_CONFIG_PATH"
_CONFIGURES = "VLLM_CONFIGURE_LOGGING"
_HANDLER = "academiceval"


@contextmanager
def errors_kept() -> Iterator[list[str]]:
    """Within this block, errors that vLLM's processes log are kept too.

    Yields:
        A list that has their lines if the block raises. It stays empty if the user configures logging, or switches it off.
    """
    from vllm import logger

    kept: list[str] = []
    if os.environ.get(_CONFIGURED) or os.environ.get(_CONFIGURES) == "0":
        yield kept
        return
    with TemporaryDirectory() as folder:
        errors, config = Path(folder) / "errors.log", Path(folder) / "logging.json"
        config.write_text(json.dumps(_with_file(logger.DEFAULT_LOGGING_CONFIG, errors)), encoding="utf-8")
        handler = logging.FileHandler(errors, encoding="utf-8")
        handler.setLevel(logging.ERROR)
        # Processes that are forked have this one's handlers, others read the configuration.
        logging.getLogger("vllm").addHandler(handler)
        os.environ[_CONFIGURED] = str(config)
        try:
            yield kept
        except BaseException:
            kept += errors.read_text(encoding="utf-8", errors="replace").splitlines()
            raise
        finally:
            del os.environ[_CONFIGURED]
            logging.getLogger("vllm").removeHandler(handler)
            handler.close()


def _with_file(config: dict[str, Any], errors: Path) -> dict[str, Any]:
    """A configuration of logging whose loggers also write their errors into a file."""
    handler = {"class": "logging.FileHandler", "level": "ERROR", "filename": str(errors), "encoding": "utf-8"}
    loggers = {
        name: {**entry, "handlers": [*entry.get("handlers", []), _HANDLER]} for name, entry in config["loggers"].items()
    }
    return {**config, "handlers": {**config["handlers"], _HANDLER: handler}, "loggers": loggers}
