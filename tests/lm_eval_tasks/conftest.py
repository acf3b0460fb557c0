"""A tiny model that the tests of evaluation share."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def tiny_llama(shared_tmp: Path) -> Path:
    """A folder with a tiny random Llama, a byte-level tokenizer and a chat template."""
    from standins.llama import make_llama

    place = shared_tmp / "tiny-llama"
    with FileLock(shared_tmp / "tiny-llama.lock"):
        if not (place / "config.json").is_file():
            make_llama(place)
    return place
