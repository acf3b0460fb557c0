"""How much of each target occurs in the other texts of its prompt. Each text of a task is examined once, however many rows show it.

A first pass over the ids learns which targets a text is shown to; when the text comes up in the second, it is compared with
all of them. Texts are identified by their kind and their paper. If rows disagree about one, as only those of a damaged
folder do, it is compared by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from builder.dataset.families import Row
from builder.dataset.manifest import Configuration
from builder.dataset.rows import rows_of
from builder.records import Task
from lm_eval_tasks.base.word_runs import Words, longest_common_run, longest_runs, run_words

# What it is, which is the name of its column, and of which paper.
_Place: TypeAlias = tuple[str, str]
_IDS = ("id", "target", "demonstrations.list.element.id")


class SharedRuns:
    """The longest runs of words that targets share with the other texts of their prompts, over the rows of one task."""

    def __init__(self, folder: Path, task: Task, configurations: Iterable[Configuration]) -> None:
        self._targets: dict[str, tuple[int, Words]] = {}
        self._shown_to: dict[_Place, dict[str, None]] = {}
        self._runs: dict[_Place, tuple[int, dict[str, int]]] = {}
        columns = (*_IDS, "citations.list.element.id") if task == "related" else _IDS
        for configuration in configurations:
            for _, row in rows_of(folder, configuration, columns):
                if row["id"] not in self._targets:
                    self._targets[row["id"]] = hash(row["target"]), run_words(row["target"])
                for place, _ in _shown(row):
                    self._shown_to.setdefault(place, {})[row["id"]] = None

    def of(self, row: Row) -> tuple[int, int, int]:
        """For a whole row: words of its target, of the longest run in the paper itself, of the longest in anything else."""
        target_hash, words = self._targets[row["id"]]
        same = target_hash == hash(row["target"])
        words = words if same else run_words(row["target"])
        content_run, *other_runs = [
            self._run(row["id"], place, record[place[0]], None if same else words) for place, record in _shown(row)
        ]
        return len(words), content_run, max(other_runs, default=0)

    def _run(self, row_id: str, place: _Place, text: str, other_target: Words | None) -> int:
        key = hash(text)
        if place not in self._runs:
            ids = list(self._shown_to[place])
            lengths = longest_runs([self._targets[id_][1] for id_ in ids], run_words(text))
            self._runs[place] = key, dict(zip(ids, lengths, strict=True))
        first, runs = self._runs[place]
        if other_target is None and first == key:
            return runs[row_id]
        target = self._targets[row_id][1] if other_target is None else other_target
        return longest_common_run(target, run_words(text))


def _shown(row: Row) -> Iterator[tuple[_Place, Row]]:
    """The texts that a prompt shows, the paper's own first: where each is, and the record that has it under the first word of that."""
    yield ("content", row["id"]), row
    for demo in row["demonstrations"]:
        yield ("content", demo["id"]), demo
        yield ("output", demo["id"]), demo
    for cited in row.get("citations") or ():
        yield ("abstract", cited["id"]), cited
