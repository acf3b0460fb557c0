"""YAML that others have written, in repositories on the Hub."""

from __future__ import annotations

from typing import Any

import yaml

from hub_scripts.errors import HubError
from lm_eval_tasks.text import ODD

# What a YAML parser raises for damaged or hostile text.
BROKEN = (yaml.YAMLError, RecursionError, *ODD)


def parse_yaml(data: bytes, what: str) -> Any:
    """The content of a file.

    Args:
        what: the file, for the message.

    Raises:
        HubError: it is not valid YAML.
    """
    try:
        return yaml.safe_load(data.decode())
    except BROKEN as err:
        reason = (str(err) or type(err).__name__).splitlines()[0]
        raise HubError(f"{what} is not valid YAML ({reason:.200}); repair it first") from err
