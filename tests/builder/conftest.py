"""An empty store, and a copy of the finished dataset folder that may be published."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.dataset.publishable import publishable
from builder.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.sqlite3") as opened:
        yield opened


@pytest.fixture(scope="session")
def copy(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset folder without texts that may not be published; do not write to it."""
    place = tmp_path_factory.mktemp("copies") / "public"
    report = publishable(dataset, place, "redistributable")
    assert report.dropped["license"] > 0
    return place
