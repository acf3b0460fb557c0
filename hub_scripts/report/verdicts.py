"""Judges' verdicts on samples: each is shown only beside the answer and the target that it is about."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hub_scripts.errors import ReportError
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.judge.verdict import is_complete, table, texts_hash

if TYPE_CHECKING:
    from lm_eval_tasks.base.tables import Table
    from lm_eval_tasks.samples.sample import Sample

_LOGGER = logging.getLogger(__name__)
# Judge -> the winners in both orders, or "empty".
Orders = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a verdict is about."""

    model: str
    round: str
    task: str
    sample: str
    texts: str


class Verdicts:
    """The verdicts of all files."""

    def __init__(self) -> None:
        self._orders: dict[_Subject, Orders] = {}
        self._file_of: dict[_Subject, Path] = {}
        self._shown: set[_Subject] = set()

    def __len__(self) -> int:
        return len(self._orders)

    def add(self, path: Path, model: str, content: Mapping[str, Any]) -> None:
        """Add a file of a judge's results; of two verdicts of one judge on the same texts the first counts.

        Args:
            model: whose answers it is about.

        Raises:
            ReportError: it is not one.
        """
        try:
            round_, tasks = str(content["round"]), content["verdicts"]
            for task, samples in tasks.items():
                hashes = content.get("texts", {}).get(task, {})
                if unknown := samples.keys() - hashes.keys():
                    _LOGGER.warning(
                        "%s does not say which texts %d verdicts on %s are about, so they are not shown: the same `academiceval judge` "
                        "command writes it again, and asks for no verdict that it has",
                        path,
                        len(unknown),
                        task,
                    )
                for id_, digest in hashes.items():
                    self._add(path, _Subject(model, round_, task, id_, str(digest)), samples.get(id_, {}))
        except ODD as err:
            raise ReportError(f"{path} is not a file of a judge's results ({err})") from err

    def _add(self, path: Path, subject: _Subject, judges: Mapping[str, Any]) -> None:
        for orders in judges.values():
            if orders != "empty" and not (len(orders) == 2 and all(map(_is_order, orders))):
                raise ValueError(f"{orders!r:.80} are not the winners in two orders")
        self._orders[subject] = {**judges, **self._orders.get(subject, {})}
        self._file_of.setdefault(subject, path)

    def of(self, model: str, sample: Sample) -> Orders:
        """The verdicts on a model's answer."""
        subject = _Subject(
            model, sample.row.round, sample.task, sample.id, texts_hash(sample.answer, sample.row.target)
        )
        if subject in self._orders:
            self._shown.add(subject)
        return self._orders.get(subject, {})

    def warn_of_others(self) -> None:
        """Say how many verdicts of each file are about texts that no sample had."""
        left = [path for subject, path in self._file_of.items() if subject not in self._shown]
        for path in sorted(set(left)):
            _LOGGER.warning(
                "%s: %d verdicts are about other answers than those given here, and are not shown",
                path,
                left.count(path),
            )


def _is_order(winners: Any) -> bool:
    return winners is None or is_complete(winners)


def duel(path: Path, content: Mapping[str, Any]) -> dict[str, Table]:
    """A judge's results on two models: title -> table."""
    try:
        model = str(content["judged_model"])[:200]
        opponent = str(content["against"])[:200]
        round_ = str(content["round"])[:200]
        return {f"{model} against {opponent}, round {round_}": table(content)}
    except ODD as err:
        raise ReportError(f"{path} is not a file of a judge's results ({err})") from err
