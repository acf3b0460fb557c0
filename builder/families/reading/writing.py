"""Chosen paper sets -> rows and texts in a dataset folder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from builder.families.descriptor import Written
from builder.families.reading.choosing import ChosenSets, NewPapers, choose
from builder.families.writer import ConfigurationWriter
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import Split
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.families.reading import Reading

if TYPE_CHECKING:
    from builder.families.reading.asking import ReadingAsker
    from builder.families.reading.papers_read import PaperLibrary

_SPLIT: Split = "test"
_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class ReadingWriter:
    """Writes configurations of reading families, then the texts that they show.

    Attributes:
        excluded: ids of rows that are left out.
        shown: the papers that the rows written so far show.
    """

    folder: Path
    library: PaperLibrary
    round_name: str
    excluded: frozenset[str] = frozenset()
    shown: set[str] = field(default_factory=set)

    def write(self, askers: Sequence[ReadingAsker[Any]], readings: Sequence[Reading], new: NewPapers) -> Written:
        """Write what the readings ask; each configuration with the reports of its stage."""
        for asking in askers:
            own = [each for each in readings if (each.task, each.controls) == (asking.task, asking.controls)]
            for chosen in choose(asking, own, new):
                yield self._write_reading(chosen, asking)

    def _write_reading(
        self, chosen: ChosenSets, asking: ReadingAsker[Any]
    ) -> tuple[ListedConfiguration, Sequence[StageReport]]:
        asked = StageReport(f"questions {chosen.reading.name}", dropped=chosen.withheld)
        configuration = self._write_rows(chosen, asking, asked)
        if _floor(configuration) > asking.most_floor:
            configuration = self._withdraw(configuration, chosen, asking.most_floor)
            if asked.dropped:
                asked.give_up("high_floor")
        self.shown |= {paper.id for paper_set in chosen.paper_sets for paper in paper_set.papers}
        return configuration, [chosen.report, asked] if asked.dropped else [chosen.report]

    def _write_rows(self, chosen: ChosenSets, asking: ReadingAsker[Any], asked: StageReport) -> ListedConfiguration:
        """Write the rows, and count each question that could have been asked once, in whichever orders it is asked."""
        configuration = ListedConfiguration(chosen.reading.name, chosen.reading.task, "questions")
        writer = ConfigurationWriter(self.folder, configuration)
        for paper_set in progress(chosen.paper_sets, chosen.reading.name):
            for row in asking.rows(paper_set, chosen.questions[paper_set.paper.id], self.round_name):
                # What is wrong with a question is wrong with it in the other order, too.
                first = row["id"].removesuffix("r")
                if row["id"] not in self.excluded and first not in self.excluded:
                    asked.kept += row["id"] == first
                    writer.add(_SPLIT, row)
                elif row["id"] == first or first not in self.excluded:
                    asked.drop(row["id"], "excluded")
        return writer.close()

    def _withdraw(
        self, configuration: ListedConfiguration, chosen: ChosenSets, most_floor: float
    ) -> ListedConfiguration:
        """Take back a configuration that programs answer without reading."""
        _LOGGER.warning(
            "%s is not offered: programs that do not read answer %.2f of it, more than %.2f",
            configuration.name,
            _floor(configuration),
            most_floor,
        )
        rmtree(self.folder / configuration.name)
        chosen.give_up("high_floor")
        return replace(configuration, splits={})


def _floor(configuration: ListedConfiguration) -> float:
    """Average what the shortcut scores; 0 without rows."""
    kinds = [kind for split in configuration.splits.values() for kind in split.statistics.kinds.values()]
    return sum(kind.shortcut.mean * kind.n for kind in kinds) / max(1, sum(kind.n for kind in kinds))
