"""SCALAR as one of the families of `builder.families`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.extract.sections import top_sections
from builder.extract.stage import choose_documents
from builder.families.descriptor import FamilyBuilder, Written
from builder.families.scalar.annotate import typing_of
from builder.families.scalar.columns import SCHEMA, TASK, row_of, with_choices, with_token_counts
from builder.families.scalar.questions import QuestionMaker, ask_all, turn_of
from builder.families.scalar.shown import MOST_CHARACTERS, candidate, question, whole_mention
from builder.families.writer import ConfigurationWriter
from builder.ids import bare_id
from builder.parquet.schema import Lacking, Row, hashes_of
from builder.records import Cited, Document, Paper
from builder.round.allowed import allows
from builder.sources.tokenizer import TokenCounter, token_counter
from builder.store import Store
from lm_eval_tasks.base import intervals
from lm_eval_tasks.base.contract import POPULARITY, Measured, Split
from lm_eval_tasks.base.figures import Bounds
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.scalar import Level
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of

if TYPE_CHECKING:
    from builder.workspace import Workspace

_CACHED = 256


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read the papers that the question papers cite, as far as the levels show their texts."""
    scalar = workspace.round_.scalar
    if scalar.shows_texts:
        workspace.read_cited(question_papers(workspace), scalar.cited_papers, engine)


def question_papers(workspace: Workspace) -> list[Paper]:
    """Return the papers that are tried: in the wanted splits, passed by quality filter and licences.

    For each split, those whose turn comes first, so that no more cited papers are fetched than the questions may need.
    """
    round_, dates = workspace.round_, workspace.dates
    accepted = round_.scalar.accepted_ids
    fit = [
        paper
        for paper in sorted(workspace.papers, key=lambda paper: turn_of(paper, round_.seed))
        if dates.split_of(paper.published) in round_.scalar.splits
        and (accepted is None or paper.id in accepted)
        and allows(paper.license, round_.licenses)
        and paper.abstract
        and paper.id not in workspace.copies
    ]
    most = min(len(fit), round_.scalar.tried)
    return [
        paper
        for split in round_.scalar.splits
        for paper in islice((candidate for candidate in fit if dates.split_of(candidate.published) == split), most)
    ]


def _known(workspace: Workspace, papers: Sequence[Paper]) -> Callable[[str], Cited | None]:
    """Return what is known of the papers that these cite, by id."""
    round_ = workspace.round_
    works = workspace.cited_papers(papers, round_.scalar.cited_papers)
    cited = {paper.id: paper for paper in works if allows(paper.license, round_.licenses)}
    texts = choose_documents(round_, workspace.store, cited.values() if round_.scalar.shows_texts else ())

    @lru_cache(maxsize=_CACHED)
    def known(id_: str) -> Cited | None:
        return Cited(cited[id_], texts.get(id_)) if id_ in cited else None

    return known


# A round cuts long papers, or leaves them out.
_CUTS = (MOST_CHARACTERS, None)


def complete_question(row: Row, task: str, store: Store) -> Row | Lacking:
    """Return the whole question, or why it cannot be had."""
    papers = [store.paper(name) for name, _ in SCHEMA.papers(row)]
    known = [paper for paper in papers if paper is not None]
    if len(known) < len(papers):
        return "missing_paper"
    hashes = hashes_of(row)
    paper, *cited = known
    documents = store.documents(paper.id)
    if not documents:
        return "missing_file"
    candidates = []
    for i, (entry, cited_paper) in enumerate(zip(row["candidates"], cited, strict=True)):
        read = store.documents(cited_paper.id)
        options = (
            candidate(document, cited_paper.abstract, row["candidate_text"], most)
            for document in (*read, None)
            for most in _CUTS
        )
        sha256 = hashes[f"candidates.{i}.content"]
        content = next((text for text in options if text is not None and sha256_of_bytes(text) == sha256), None)
        if content is None:
            return "changed_text" if read else "missing_file"
        candidates.append(
            {**entry, "title": cited_paper.title, "content": content, "authors": list(cited_paper.authors)}
        )
    for document, most in product(documents, _CUTS):
        text = _question(row, paper, document, most)
        if text is not None and sha256_of_bytes(text[1]) == hashes["question"]:
            found = {"title": paper.title, "candidates": candidates, "section": text[0], "question": text[1]}
            whole = SCHEMA.completed(row, found)
            return whole if isinstance(whole, str) else with_choices(whole)
    return "changed_text"


def _question(row: Row, paper: Paper, document: Document, most: int | None) -> tuple[str, str] | None:
    """Make the section's heading and the question's text, as a document gives them."""
    number = int(row["id"].rpartition("#")[2])
    if number >= len(document.mentions):
        return None
    mention = document.mentions[number]
    section = next((one for one in top_sections(document) if mention.section in one.sections), None)
    if section is None:
        return None
    whole = whole_mention(document, mention)
    text = question(document, paper.title, paper.abstract, whole, row["question_paper"], most)
    return (section.heading, text) if text is not None else None


_COUNTED_TOGETHER = 16


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Return every level that the round asks for."""
    round_, scalar = workspace.round_, workspace.round_.scalar
    if not scalar.chosen:
        return
    papers = question_papers(workspace)
    known = _known(workspace, papers)
    choosers = choosers_of(embed_local=scalar.embed_local) | {POPULARITY: _by_citations(workspace)}
    for level in scalar.chosen:
        maker = QuestionMaker(
            level, round_.seed, known, typing_of(round_), most=scalar.questions_of_paper, lengths=scalar.lengths
        )
        rows: dict[Split, Iterable[Row]] = {}
        for split in scalar.splits:
            of_split = [paper for paper in papers if workspace.dates.split_of(paper.published) == split]
            citing = map(workspace.citing, progress(of_split, maker.report.stage, len(of_split)))
            asked = ask_all(maker, citing, round_.seed, scalar.questions, round_.excluded)
            rows[split] = map(row_of, asked)
        yield write_level(folder, level, rows, round_.round, token_counter(), choosers), [maker.report]


def write_level(
    folder: Path,
    level: Level,
    rows: Mapping[Split, Iterable[Row]],
    round_name: str,
    count: TokenCounter,
    choosers: Mapping[Measured, Chooser],
) -> ListedConfiguration:
    """Write the rows of one SCALAR level."""
    writer = ConfigurationWriter(
        folder, ListedConfiguration(level.name, TASK, "questions"), lambda: ScalarMeasure(choosers)
    )
    for split, of_split in rows.items():
        waiting = iter(of_split)
        while group := list(islice(waiting, _COUNTED_TOGETHER)):
            for row in with_token_counts(group, round_name, count):
                writer.add(split, row)
    return writer.close()


def _by_citations(workspace: Workspace) -> Chooser:
    """Choose the candidate that most papers of the round cite; of equal ones the first."""
    counts = Counter(id_ for paper in workspace.papers for id_ in set(workspace.store.cited_ids(paper.id).values()))

    def choose(row: ScalarRow) -> int:
        cited = [counts[bare_id(candidate.id)] for candidate in row.candidates]
        return cited.index(max(cited))

    return choose


@dataclass(slots=True)
class ScalarMeasure:
    """Counts where the right candidates of questions stand, and what programs choose rightly that do not read."""

    choosers: Mapping[Measured, Chooser]
    labels: Counter[int] = field(default_factory=Counter)
    right: dict[Measured, list[float]] = field(default_factory=lambda: defaultdict(list))
    clusters: list[str] = field(default_factory=list)

    def add(self, row: Row, first_author: str) -> None:
        """Take one row; one by id alone has no text to choose by."""
        self.labels[row["label"]] += 1
        if "question" not in row:
            return
        self.clusters.append(first_author)
        asked = typed(ScalarRow, row)
        for name, choose in self.choosers.items():
            self.right[name].append(float(choose(asked) == asked.label))

    def results(self) -> dict[str, Any]:
        """Give `labels` and `shortcuts` of `Statistics`."""
        return {
            "labels": tuple(self.labels[position] for position in range(max(self.labels, default=-1) + 1)),
            "shortcuts": {name: Bounds.of(intervals.level(right, self.clusters)) for name, right in self.right.items()},
        }


FAMILY = FamilyBuilder(
    schema=lambda _: SCHEMA,
    complete=complete_question,
    prepare=prepare,
    write=write,
    measure=lambda _: ScalarMeasure(choosers_of(embed_local=False)),
)
