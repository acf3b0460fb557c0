"""Recall in a round: texts whose numbers and names a model must find again in what it has read, and their rows in every context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builder.families.descriptor import FamilyBuilder, Written
from builder.families.reading.asking import part_of
from builder.families.reading.columns import PART, SHOWN, shared_columns
from builder.families.reading.completing import complete_row
from builder.families.reading.making import library_of, new_papers, reason_of
from builder.families.recall.filler import Filler, Run, fill, fillers_of, replaced, runs_of
from builder.families.recall.texts import AskedText, PaperText, Paragraph, asked_texts, placed
from builder.families.writer import ConfigurationWriter
from builder.parquet.schema import INTEGER, STRING, Row, RowSchema, strings
from builder.seeding import digest_of
from builder.sources.tokenizer import token_counter
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import PAPERS
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.recall import Recall
from lm_eval_tasks.families.recall.prompt import prompt_of
from lm_eval_tasks.families.recall.recall_row import PLACES, Place, RecallRow

if TYPE_CHECKING:
    from builder.workspace import Workspace

_SPAN = pa.struct([("kind", STRING), ("start", INTEGER), ("end", INTEGER), ("times", INTEGER)])
_COLUMNS = pa.schema(
    [
        *strings("id", "paper_id", "title", "section", "place", "published", "license", "primary_category", "round"),
        ("input_tokens", INTEGER),
        ("authors", pa.list_(STRING)),
        ("papers", pa.list_(SHOWN)),
        ("parts", pa.list_(PART)),
        ("text", PART),
        ("spans", pa.list_(_SPAN)),
        ("parts_version", INTEGER),
    ]
)
SCHEMA = RowSchema(
    columns=_COLUMNS,
    kept=[name for name in _COLUMNS.names if name != "title"],
    own=["title"],
    paper_column="paper_id",
    shown_column="papers",
)

# Parts of a size: the rest is left to other tokenizers, templates and the text; and tokens of the question.
_LEAST, _MOST, _QUESTION = 0.8, 0.92, 60
# A name or word is rare that stands in at most one of so many papers; papers from which paragraphs in place of the evidence are taken.
_RARE, _POOL = 50, 12
_KEPT = 512


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Write every configuration that the round asks for; each with the report of its stage."""
    chosen = workspace.round_.recall.chosen
    if not chosen:
        return
    round_ = _Recalled(workspace)
    for configuration in chosen:
        yield _write(configuration, round_, folder)
    workspace.shown.update(round_.shown)


def _write(configuration: Recall, round_: _Recalled, folder: Path) -> tuple[ListedConfiguration, Sequence[StageReport]]:
    drawn, excluded = list(round_.places.items()), round_.workspace.round_.excluded
    report = replace(deepcopy(round_.report), stage=configuration.name)
    writer = ConfigurationWriter(folder, ListedConfiguration(configuration.name, configuration.task, "questions"))
    # Paper -> why it has no row, "" if it has one; a paper may be asked about twice.
    reasons: dict[str, str] = {}
    for asked, place in progress(drawn, configuration.name):
        name = f"{round_.papers[asked.paper].versioned_id}#{asked.section}"
        ids = {f"{name}-{one}": one for one in PLACES} if configuration.at_places else {name: place}
        named = excluded & {name, *ids}
        if named:
            # Noted even if the paper keeps other rows, so that nobody is told that the id is unknown.
            report.examples.setdefault("excluded", []).extend(sorted(named))
        wanted = {} if name in named else {id_: one for id_, one in ids.items() if id_ not in named}
        rows = {id_: round_.row(configuration, asked, one) for id_, one in wanted.items()}
        reason = "excluded" if not rows else "context_not_filled" if None in rows.values() else ""
        reasons[asked.paper] = reason and reasons.get(asked.paper, reason)
        if not reason:
            for id_, row in rows.items():
                writer.add("test", {**(row or {}), "id": id_})
    for paper, reason in reasons.items():
        if reason:
            report.drop(round_.papers[paper].versioned_id, reason)
    report.kept += sum(not reason for reason in reasons.values())
    return writer.close(), [report]


class _Recalled:
    """The texts that a round asks for, and what may stand around them."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.papers = {paper.id: paper for paper in workspace.papers}
        self.report = StageReport("recall")
        self.shown: set[str] = set()
        self._library = library_of(workspace)
        self.text = lru_cache(maxsize=_KEPT)(lambda id_: PaperText(self._library.read(id_)))
        self._fillers = lru_cache(maxsize=_KEPT)(self._fillers_of)
        self._showable = {paper.id for paper in workspace.papers if reason_of(paper, workspace) is None}

    @cached_property
    def _standing(self) -> Counter[str]:
        """Key of a name or word -> how many papers of the round have it."""
        return Counter(key for id_ in progress(list(self.papers), "words of papers") for key in self.text(id_).words)

    def _is_rare(self, key: str) -> bool:
        return self._standing[key] <= max(1, len(self.papers) // _RARE)

    @cached_property
    def places(self) -> dict[AskedText, Place]:
        """Each text with the place of its evidence, in the order of the rows."""
        seed, most = self.workspace.round_.seed, self.workspace.round_.recall.texts
        found: list[AskedText] = []
        for paper in progress(new_papers(self.workspace), "texts to recall"):
            if len(found) >= most:
                break
            reason = reason_of(paper, self.workspace)
            asked = [] if reason else asked_texts(self.text(paper.id), self._is_rare)
            if not asked:
                self.report.drop(paper.versioned_id, reason or "no_question")
            found += asked
        chosen = found[:most]
        places = placed(chosen, lambda asked: digest_of(seed, asked.paper, "place"))
        return {asked: places[asked] for asked in chosen}

    def row(self, configuration: Recall, asked: AskedText, place: Place) -> Row | None:
        """Return the row of a text in a configuration; None if the round's papers do not fill the context."""
        evidence = self._evidence(asked) if configuration.is_without else None
        if configuration.is_without and evidence is None:
            return None
        shown = evidence or [(asked.paper, number) for number in asked.evidence]
        filler: Filler | None = Filler()
        if configuration.size:
            own = _QUESTION + self._tokens([(asked.paper, number) for number in asked.evidence])
            least, most = (round(part * configuration.size * 1024) - own for part in (_LEAST, _MOST))
            papers = map(self.text, self._fillers(asked.paper))
            filler = fill(asked, place, papers, least=least, most=most, replacing=evidence or ())
        if filler is None:
            return None
        before, behind = filler.runs()
        return self._made(asked, place, [*before, *runs_of(shown), *behind])

    def _tokens(self, paragraphs: Sequence[tuple[str, int]]) -> int:
        return sum(self.text(paper).tokens[number] for paper, number in paragraphs)

    def _fillers_of(self, paper: str) -> tuple[str, ...]:
        found = fillers_of(self.papers[paper], self.workspace.papers, self._showable, self.workspace.round_.seed)
        return tuple(other.id for other in found)

    def _evidence(self, asked: AskedText) -> list[tuple[str, int]] | None:
        """Return what stands in place of the evidence: from the papers that would be the last to stand around it."""
        texts = [self.text(id_) for id_ in self._fillers(asked.paper)[::-1][:_POOL]]

        def order(paragraph: Paragraph, text: PaperText) -> bytes:
            return digest_of(self.workspace.round_.seed, asked.paper, text.read.paper.id, paragraph.number, "without")

        return replaced(asked, self.text(asked.paper), texts, order)

    def _made(self, asked: AskedText, place: Place, runs: Sequence[Run]) -> Row:
        names = list(dict.fromkeys([asked.paper, *(paper for paper, _ in runs)]))
        self.shown.update(names)
        papers = [self.papers[name] for name in names]
        row = {
            **shared_columns(papers, self.workspace.round_.round),
            "id": asked.section,
            "section": asked.section,
            "place": place,
            "text": part_of(0, asked.start, asked.end),
            "parts": [self._part(names.index(paper), paper, numbers) for paper, numbers in runs],
            "spans": [span.to_row(times) for span, times in asked.spans],
        }
        texts = {(PAPERS, self.papers[name].versioned_id): self.text(name).text for name in names}
        return {**row, "input_tokens": token_counter()([prompt_of(typed(RecallRow, row), texts)])[0]}

    def _part(self, place: int, paper: str, numbers: Sequence[int]) -> dict[str, Any]:
        paragraphs = self.text(paper).paragraphs
        return part_of(place, paragraphs[numbers[0]].start, paragraphs[numbers[-1]].end)


FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=partial(complete_row, SCHEMA), write=write)
