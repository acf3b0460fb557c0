"""A Hub that holds one published round, or two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from standins.hub_server import Hub
from tests.helpers.served import Command


def _begin(count: int, states: dict[str, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """Publish the first rounds, or put what that came to into the Hub again."""
    name = f"{count} rounds"
    if name not in states:
        for folder in two_rounds[:count]:
            assert command("push", folder, "--repo", "org/academiceval", "--yes")[0] == 0
        states[name] = hub.save()
    hub.load(states[name])


@pytest.fixture
def first(states: dict[str, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds the first round."""
    _begin(1, states, command, hub, two_rounds)


@pytest.fixture
def both(states: dict[str, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds both rounds."""
    _begin(2, states, command, hub, two_rounds)
