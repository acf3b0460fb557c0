"""Select: which works of a pool, shown by title and abstract, does a new paper cite in its introduction?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from builder.reading.asking import LABEL_TOKENS, Asked, Asking, part_of
from builder.reading.contexts import fill
from builder.reading.match import summary
from builder.reading.names import names_of, pattern_of
from builder.reading.neutral import CITE, Edit, citations_in, without_overlaps
from builder.reading.passages import neutral_text
from builder.reading.text import abstract_text
from builder.samples.tokens import token_counter
from lm_eval_tasks.core.text import title_key
from lm_eval_tasks.metrics.reading import WORKS
from lm_eval_tasks.retrieval.sparse import BM25

if TYPE_CHECKING:
    from datetime import date

    from builder.reading.contexts import Context
    from builder.reading.papers_read import PaperRead
    from builder.records import Paper, ReadingReason

# Fewer works say too little about a choice.
FEWEST = 5
_NAME = "[name]"
# Works of neighbours that are looked at: enough for 1M tokens of abstracts.
_NEARBY = 10_000


class SelectAsking(Asking["Sequence[Paper]"]):
    """Select over the papers of a round; a question is the works that an introduction cites."""

    task = "select"

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, Context] | ReadingReason:
        read = self.shelf.read(paper.id)
        if not read.resolved:
            return "unresolved_citations"
        cited = self._cited(read)
        if introduction_of(read) is None or len(cited) < FEWEST:
            return "too_few_works"
        contexts = fill(paper, [*cited, *self._others(read)], sizes, lambda other: self._tokens(other, paper))
        needed = {work.id for work in cited}
        return {size: context for size, context in contexts.items() if needed <= {other.id for other in context.papers}}

    def _tokens(self, paper: Paper, new: Paper) -> int:
        text = abstract_text(paper)
        if paper.id == new.id:
            read = self.shelf.read(paper.id)
            text = read.document.sections[introduction_of(read) or 0].text
        return token_counter()([text])[0] + LABEL_TOKENS

    def _cited(self, read: PaperRead) -> list[Paper]:
        """The works that the introduction cites, as far as they are known and older."""
        section = introduction_of(read)
        entries = {
            entry for mention in read.document.mentions if mention.section == section for entry in mention.references
        }
        ids = dict.fromkeys(read.resolved[entry] for entry in sorted(entries) if entry in read.resolved)
        works = [work for id_ in ids if (work := self._known(id_, read.paper.published))]
        keys = [title_key(work.title) for work in works]
        return [
            work for work, key in zip(works, keys, strict=True) if keys.count(key) == 1 and work.id != read.paper.id
        ]

    def _known(self, id_: str, day: date) -> Paper | None:
        """A work with an abstract, older than a day."""
        cited = self.shelf.work(id_)
        return cited.paper if cited and cited.paper.abstract.strip() and cited.paper.published < day else None

    def _others(self, read: PaperRead) -> Iterator[Paper]:
        """Works that other papers cite, and this one certainly does not; not newer than the paper."""
        own = set(read.resolved.values()) | {read.paper.id}
        seen: set[str] = set()
        for id_ in islice(self.shelf.cited_nearby(read.paper), _NEARBY):
            work = self._known(id_, read.paper.published) if id_ not in own else None
            if work is None:
                continue
            key = title_key(work.title)
            if key not in seen and key not in read.listed_titles:
                seen.add(key)
                yield work

    def questions(self, context: Context, preferred: Sequence[Sequence[Paper]]) -> list[Sequence[Paper]]:
        return list(preferred) or [self._cited(self.shelf.read(context.paper.id))]

    def key(self, question: Sequence[Paper]) -> Sequence[object]:
        return [self.task]

    def parts(self, context: Context) -> list[dict[str, Any]]:
        return [part_of(i, 0, len(abstract_text(paper))) for i, paper in enumerate(context.papers) if i]

    def abstracts(self, context: Context) -> Collection[str]:
        return {paper.id for paper in context.papers[1:]}

    def asked(self, question: Sequence[Paper], context: Context, label: Mapping[Any, int]) -> Asked:
        labels = {paper.id: label[i, 0] for i, paper in enumerate(context.papers) if i}
        read, pool = self.shelf.read(context.paper.id), context.papers[1:]
        part = _shown(read, question)
        edits = [Edit(**edit) for edit in part["edits"]]
        shown = neutral_text(read.shown.text, part["start"], part["end"], edits)
        return Asked(
            WORKS,
            sorted(labels[work.id] for work in question),
            [labels[id_] for id_ in by_abstracts(shown, pool, len(question))],
            last=[part],
        )


def by_abstracts(introduction: str, pool: Sequence[Paper], count: int) -> list[str]:
    """The shortcut: the works whose titles and abstracts BM25 finds for an introduction, the best first."""
    [scores] = BM25().all_scores([introduction], list(map(summary, pool)))
    return [pool[i].id for i in sorted(range(len(pool)), key=lambda i: (-scores[i], pool[i].id))[:count]]


def introduction_of(read: PaperRead) -> int | None:
    """The section that introduces a paper; None without one."""
    return next((i for i, called in sorted(read.called.items()) if "introduction" in called.sure), None)


def _shown(read: PaperRead, works: Sequence[Paper]) -> dict[str, Any]:
    """The introduction, without its citations and the names of the works."""
    section = introduction_of(read)
    assert section is not None
    text, at = read.document.sections[section].text, read.shown.sections[section]
    cited = [(mention.start, mention.end) for mention in read.document.mentions if mention.section == section]
    names = pattern_of({name for work in works for name in names_of(work)})
    edits = without_overlaps(
        [
            *(Edit(start, end, CITE) for start, end in citations_in(text, cited)),
            *(Edit(*match.span(), _NAME) for match in (names.finditer(text) if names else ())),
        ]
    )
    return part_of(0, at, at + len(text), [asdict(Edit(edit.start + at, edit.end + at, edit.text)) for edit in edits])
