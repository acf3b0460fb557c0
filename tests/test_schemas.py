"""The JSON schemas of round.toml, live.toml and models.toml, which ship with the package."""

from __future__ import annotations

from tests.schemas import schemas


def test_the_schemas_are_those_of_the_models() -> None:
    for path, text in schemas().items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is out of date: python -m tests.schemas writes it"
