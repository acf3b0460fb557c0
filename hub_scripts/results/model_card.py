"""The scores in a model's card: https://huggingface.co/docs/hub/model-cards#evaluation-results. All else in it stays byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hub_scripts.errors import HubError
from hub_scripts.results.leaderboard import is_ours
from hub_scripts.results.yaml_edit import edited, is_nothing, with_items
from lm_eval_tasks.core.yaml_text import FRONT_MATTER, parse_as_text

_INDEX, _RESULTS = "model-index", "results"


def newest(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of entries about the same task and round the last."""
    return list({_identity(entry): entry for entry in entries}.values())


def with_index(data: bytes, model: str, entries: Sequence[Mapping[str, Any]]) -> bytes:
    """A model card that shows the entries; our older ones of the same task and round are replaced.

    Args:
        model: ORG/NAME.

    Raises:
        HubError: its front matter cannot be read, or not edited without changing more than our entries.
    """
    try:
        return edited(data, lambda text: _with_index(text, model.split("/")[1], entries))
    except ValueError as err:
        raise HubError(
            f"the front matter of the card of {model} cannot be read or edited ({err!s:.200}); repair it first"
        ) from err


def _with_index(text: str, name: str, entries: Sequence[Mapping[str, Any]]) -> str:
    if match := FRONT_MATTER.match(text):
        opening, front, closing = match.groups()
        return f"{opening}{_with_entries(front, name, entries)}{closing}{text[match.end() :]}"
    if text.lstrip().startswith("---"):
        raise ValueError("it begins with --- and has no end")
    return f"---\n{_with_entries('', name, entries)}---\n{text}"


def _with_entries(front: str, name: str, entries: Sequence[Mapping[str, Any]]) -> str:
    content = parse_as_text(front) or {}
    if not isinstance(content, dict):
        raise ValueError("it has no keys")
    models = content.get(_INDEX)
    models = [] if is_nothing(models) else models
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise ValueError(f"{_INDEX} is not a list of models")
    identities = {_identity(entry) for entry in entries}
    place = next((i for i, model in enumerate(models) if model.get("name") == name or len(models) == 1), None)
    if place is None:
        return with_items(front, (_INDEX,), lambda _: False, [{"name": name, _RESULTS: list(entries)}])
    return with_items(
        front, (_INDEX, place, _RESULTS), lambda old: is_ours(old) and _identity(old) in identities, entries
    )


def _identity(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """What an entry is about; others may have written anything."""
    dataset, task = (part if isinstance(part := entry.get(name), dict) else {} for name in ("dataset", "task"))
    return (str(task.get("name")), *(str(dataset.get(name)) for name in ("type", "name", "config", "revision")))
