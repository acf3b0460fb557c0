"""Stage 6, cutting: what each task shows of a paper and asks for, how long that is, and whether it can be shown at all.

Each paper is processed once for all settings; its texts wait in a file until rows are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from builder.extract.sections import cited_in_related_work
from builder.families.writing import task_view
from builder.families.writing.texts import Span, TextsWriter
from builder.records import NO_TEXT, CitedPaper, Paper, SampleReason, Task
from builder.round.licenses import Licenses, allows
from builder.round.tables import SamplesTable
from builder.samples.tokens import shown_beside, token_counter
from builder.store.documents import unpack_document

if TYPE_CHECKING:
    from builder.extract.stage import Documents
    from builder.store import Store
    from lm_eval_tasks.engines.registry import Engine

_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class TaskCut:
    """What one task makes of a paper. Texts are given by their places in `Cut.spans`.

    Attributes:
        unfit: why the paper cannot be shown, as target or demonstration; None if it can; then the other fields count.
        content: the parts of the main body, an empty line between them.
        output: what is asked for.
        input_tokens: of what a prompt shows of the paper, citations left out.
        output_tokens: of what is asked for.
    """

    unfit: SampleReason | None
    content: tuple[int, ...] = ()
    output: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CutCitation:
    """A work that a paper's related work cites; `title` and `abstract` are places in `Cut.spans`."""

    id: str
    license: str
    authors: tuple[str, ...]
    title: int
    abstract: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A paper as the tasks show it.

    Attributes:
        citations: of its related work, in the order of the reference list.
        cited_tokens: of these titles and abstracts.
        spans: where its texts are.
    """

    paper: Paper
    tasks: Mapping[Task, TaskCut]
    citations: tuple[CutCitation, ...]
    cited_tokens: int
    spans: tuple[Span, ...]

    def tokens_as_target(self, task: Task) -> int:
        """Of what a prompt shows of the paper when it is asked for, citations included."""
        return self.tasks[task].input_tokens + (self.cited_tokens if task == "related" else 0)

    def tokens_as_demonstration(self, task: Task) -> int:
        """Of what a prompt shows of the paper when it demonstrates."""
        return self.tasks[task].input_tokens + self.tasks[task].output_tokens


@dataclass(frozen=True, slots=True)
class _Read:
    """A paper as the store has it.

    Attributes:
        body: its document, packed.
        cited: reference, in order -> the paper that it means, as far as it was found.
    """

    paper: Paper
    body: bytes
    cited: Mapping[int, CitedPaper]


class _Texts:
    """The texts of one paper, each held and counted once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._tokens: list[int] = []

    def add(self, *texts: str) -> tuple[int, ...]:
        """The places of some texts."""
        new = [text for text in dict.fromkeys(texts) if text not in self._places]
        self._places.update(zip(new, count(len(self._tokens)), strict=False))
        self._tokens += token_counter()(new)
        return tuple(self._places[text] for text in texts)

    def tokens(self, places: Iterable[int]) -> int:
        return sum(self._tokens[place] for place in places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts one paper; pure, for any process."""

    tasks: tuple[Task, ...]
    licenses: Licenses
    needs: SamplesTable

    def __call__(self, read: _Read) -> tuple[Cut, tuple[str, ...]]:
        """The paper without spans, and the texts that they will give."""
        texts = _Texts()
        paper, document = read.paper, unpack_document(read.body, read.paper.id)
        tasks = {}
        for task in self.tasks:
            content, output = task_view.content_parts(document, task), task_view.target(paper, document, task)
            unfit = self._unfit_reason(paper, task, content, output)
            tasks[task] = TaskCut(unfit) if unfit else self._cut(paper, task, content, output, texts)
        related = set(cited_in_related_work(document))
        cited: list[CutCitation] = []
        for cited_paper in (cited_paper for i, cited_paper in read.cited.items() if i in related):
            title, abstract = texts.add(cited_paper.title, cited_paper.abstract)
            cited.append(CutCitation(cited_paper.id, cited_paper.license, cited_paper.authors, title, abstract))
        tokens = texts.tokens(place for citation in cited for place in (citation.title, citation.abstract))
        return Cut(paper, tasks, tuple(cited), tokens, ()), tuple(texts)

    def _unfit_reason(self, paper: Paper, task: Task, content: list[str], output: str) -> SampleReason | None:
        if not allows(paper.license, self.licenses):
            return "license"
        if not paper.abstract:
            return "no_abstract"
        if not output and task in ("intro", "related"):
            return "no_introduction" if task == "intro" else "no_related_work"
        if task != "title" and len(output.split()) < self.needs.min_target_words:
            return "short_target"
        if NO_TEXT in output or (task != "title" and task_view.has_debris(output)):
            return "debris_in_target"
        return None if _has_words(content, self.needs.min_content_words) else "short_content"

    def _cut(self, paper: Paper, task: Task, content: list[str], output: str, texts: _Texts) -> TaskCut:
        # No token spans the empty line between two parts.
        parts, beside, answer = (
            texts.add(*content),
            texts.add(*shown_beside(paper.title, paper.abstract, task)),
            texts.add(output),
        )
        return TaskCut(None, parts, answer[0], texts.tokens((*parts, *beside)), texts.tokens(answer))


def _has_words(parts: Iterable[str], least: int) -> bool:
    for part in parts:
        least -= len(part.split())
        if least <= 0:
            return True
    return False


def cut_papers(
    papers: Iterable[Paper],
    documents: Documents,
    tasks: Iterable[Task],
    licenses: Licenses,
    needs: SamplesTable,
    writer: TextsWriter,
    engine: Engine,
) -> dict[str, Cut]:
    """Cut papers that have a document, by id; their texts go to `writer`."""
    cutter = _Cutter(tuple(tasks), licenses, needs)
    reads = (_read(paper, documents, licenses if "related" in cutter.tasks else None) for paper in papers)
    cuts = {}
    for cut, texts in engine.map(cutter, reads, _AT_ONCE):
        cuts[cut.paper.id] = Cut(cut.paper, cut.tasks, cut.citations, cut.cited_tokens, writer.add(texts))
    return cuts


def _read(paper: Paper, documents: Documents, licenses: Licenses | None) -> _Read:
    """A paper with its citations, as far as their abstracts may be shown; without them if no licences are given."""
    cited = _cited_papers(documents.store, paper.id, licenses) if licenses else {}
    return _Read(paper, documents.packed_document(paper.id), cited)


def _cited_papers(store: Store, paper_id: str, licenses: Licenses) -> dict[int, CitedPaper]:
    links = store.cited_ids(paper_id)
    papers = {
        paper.id: CitedPaper(paper.id, paper.title, paper.abstract, paper.abstract_license, paper.authors)
        for paper in store.papers(set(links.values()))
        if allows(paper.abstract_license, licenses)
    }
    return {reference: papers[id_] for reference, id_ in links.items() if id_ in papers}
