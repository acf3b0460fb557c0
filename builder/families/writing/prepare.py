"""Stage 6, preparing: what each task shows of a paper and asks for, how long that is, and whether it can be shown at all.

The main body runs from the introduction up to the references; each task leaves its own section out of it (section 3.2 of the
AcademicEval paper). Each paper is processed once for all settings; its texts wait in a file until rows are put together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from io import FileIO
from itertools import count
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from builder.extract.quality import common_share, words_of
from builder.extract.sections import OUTSIDE, cited_in_related_work, role_span
from builder.records import NO_TEXT, PUBLIC_DOMAIN, Document, Paper, Role, SampleReason
from builder.round.allowed import allows
from builder.round.configurations import by_task
from builder.sources.tokenizer import shown_beside, token_counter
from builder.store.documents import unpack_document
from lm_eval_tasks.base.contract import Licenses, Task
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.word_runs import Words, joined, run_words, share_run
from lm_eval_tasks.engines.registry import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from builder.round.model import Round
    from builder.store import Store
    from builder.workspace import Workspace

# Title: nothing is cut; abstract: the conclusion repeats it; the others: the section that is asked for.
_OWN: dict[Task, Role | None] = {"title": None, "abs": "conclusion", "intro": "introduction", "related": "related_work"}

# What a page has beside its text: notes on authors, captions, key words, addresses, rights; citations that TeX or a word processor could
# not resolve, and TeX's own words. Apart by what they begin with, because few places of a text begin any.
_CAPTION = r"(?-i:Figure|Fig\.|Table) \d+[:.] (?-i:[A-Z(])"
# Keys of entries in square and in round brackets, one or several.
_KEYS, _ROUND_KEYS = (
    rf"{key}(?:\s*[,;]\s*{key})*"
    for key in (
        r"(?-i:[a-z]+)[:_]?(?:19|20)\d\d(?-i:[:_a-z]*)",
        r"(?-i:[a-z]+)[:_]?(?:19|20)\d\d(?-i:[:_]?[a-z]+)",
    )
)
_BEHIND_A_MARK = (
    r"[*∗†‡§¶]\s?(?:corresponding author|equal contribution|equally contribut)|[.!?] " + _CAPTION,
    r"\[(?-i:DBLP):[^\]\s]+\]|\[(?-i:CITATION)\b[^\]]*\]|\[(?-i:sec|fig|tab|eq|app|alg|thm):[\w:.-]+\]|\(undefined\)",
    r"\[(?-i:[a-z]{3,}\d\d(?:\d\d)?[a-z]{3,}(?:\s*[,;]\s*[a-z]{3,}\d\d(?:\d\d)?[a-z]{3,})*)\]",
    r"\[(?-i:[\w-]+-etal-(?:19|20)\d\d[\w-]*|[A-Z][a-z]+(?:19|20)\d\d(?:[a-z]{2,}|[A-Z][a-z]+)|[A-Z][a-z]+EtAl\d{4}\w*)(?:\s*[,;][^\[\]]*)?\]",
    r"\[-?@[\w:.-]+\]|\[(?-i:[a-z]+_\w+_(?:19|20)\d\d)\]|\[citation needed\]|\[(?-i:REF|TODO|CITE)\b[^\[\]]*\]",
    # One of several that is not known: "(Brown et al. 2020b; ?)", "(see ?)".
    r"[(\[](?:[^()\[\]]{1,80}[,;]|see(?: also)?|cf\.?|e\.g\.,?|i\.e\.,?)\s+\?\s*[,;)\]]",
    r"\(author\?\)|[(\[][^()\[\]]{0,40}\bundef[a-z]{0,3}\b[^()\[\]]{0,40}[)\]]",
    r"[(\[]\s*(?:\d+\s*[,;]\s*)*\?(?:\s*[,;]\s*(?:\?|\d+))*\s*[)\]]",
    rf"\[{_KEYS}\]|\({_ROUND_KEYS}\)",
    r"(?<!\w)\?\?(?!\w)",
    r"\\(?:usetikzlibrary|newtheorem|setcounter|DeclareMathOperator|bibitem|begin|end|(?:re)?newcommand|documentclass|usepackage|cite(?:al[tp]|[tp]|author|year)?"
    r"|ref|label|addbibresource|pgfplotsset|tikzset|definecolor|textbf|textit|eqref|autoref|[cC]ref|(?:print)?bibliography(?:style)?"
    r"|includegraphics|maketitle|vspace|hspace|footnote|section|input|url|textsc|textcolor|xspace|emph|SI)\b",
)
_IN_WORDS = (
    r"(?:these|both) authors contributed equally\b|corresponding authors?[.:]|depth=\d+\s+depth=\d",
    r"Error! (?:Reference source not found|Bookmark not defined)",
    r"(?-i:LABEL):\w|(?-i:Figs?\.|Figures?|Tables?|Sections?|Secs?\.|Eqs?\.|Equations?|Appendix|Theorem|Lemma|Algorithm)\s+\?(?!\w)",
)
_AT_THE_LEFT = (
    _CAPTION,
    r"\W{0,2}(?:key ?words?(?: and phrases)?\s?[:—–]|index terms\s?[:—–-]|ccs concepts\b|permission to make digital)",
    r"\W{0,2}(?:copyright (?:©|\(c\)|\d)|©)|\S+@\S+\.\w+$",
)
_DEBRIS = re.compile(
    rf"(?=[*∗†‡§¶.!?(\[\\])(?:{'|'.join(_BEHIND_A_MARK)})|\b(?:{'|'.join(_IN_WORDS)})|^(?:{'|'.join(_AT_THE_LEFT)})",
    re.IGNORECASE | re.MULTILINE,
)


# Words in a row that what is shown may not share with what is asked for, beside whole titles of this many: conclusions and introductions
# repeat sentences of abstracts, which have some 25 words; more is a copy.
_COPIED, _TITLE = 30, 4
# Of texts with so many words, at least so many in a hundred are among the commonest of English: some 20 in papers.
_LEAST_WORDS, _LEAST_COMMON = 40, 0.08


def is_shown(target: str, task: Task, shown: Iterable[str]) -> bool:
    """Tell whether what is asked for stands, word for word, in what is shown."""
    asked = _words_of(target)
    most = max(_TITLE, len(asked)) if task == "title" else _COPIED
    return len(asked) >= most and share_run(asked, joined(list(map(_words_of, shown))), most)


# Numbers in brackets, which cite: a copy is one without them, too.
_CITED = re.compile(r"\[\d+(?:\s?[,–-]\s?\d+)*\]")


# A paper's sections are shown for several tasks, one after another.
@lru_cache(maxsize=128)
def _words_of(text: str) -> Words:
    return run_words(_CITED.sub(" ", text))


@lru_cache(maxsize=128)
def _word_count(section: str) -> int:
    return len(section.split())


def is_unreadable(text: str) -> bool:
    """Tell whether a text is set in a font whose characters have other values, or in another language."""
    words = words_of(text)
    return len(words) >= _LEAST_WORDS and common_share(words) < _LEAST_COMMON


def has_debris(text: str) -> bool:
    """Tell whether a text that a task would ask for has something in it that is no text of its section."""
    return _DEBRIS.search(text) is not None


def content_texts(document: Document, task: Task) -> list[str]:
    """Return the sections of the main body for a task, each with its heading; an empty line stands between two."""
    role = _OWN[task]
    left_out = role_span(document, role) if role else frozenset()
    # The introduction, or the first section if there is none.
    start = next((i for i, section in enumerate(document.sections) if section.role == "introduction"), 0)
    return [
        f"{section.heading}\n{section.text}".strip()
        for i, section in enumerate(document.sections)
        if i >= start and i not in left_out and section.role not in OUTSIDE
    ]


def target_of(paper: Paper, document: Document, task: Task) -> str:
    """Return the text that the task asks for, "" if the paper has none."""
    match task:
        case "title":
            return paper.title
        case "abs":
            return paper.abstract
        case "intro":
            return _section_text(document, "introduction")
        case "related":
            return _section_text(document, "related_work")


def _section_text(document: Document, role: Role) -> str:
    """Return the text of a role's sections, headings of subsections kept, those of the sections themselves not."""
    sections = (document.sections[i] for i in sorted(role_span(document, role)))
    texts = (section.text if section.role == role else f"{section.heading}\n{section.text}" for section in sections)
    return "\n\n".join(text.strip() for text in texts if text.strip())


# Where a text begins, and its length in bytes.
Span: TypeAlias = tuple[int, int]


def add_texts(file: BinaryIO, texts: Iterable[str]) -> tuple[Span, ...]:
    """Append texts to a file that is there for the time of a build, and read at random by many."""
    return tuple((file.tell(), file.write(text.encode())) for text in texts)


def text_at(file: FileIO, span: Span) -> str:
    """Return a text of the file, which is not mapped: the pages would count as this process's memory."""
    begin, length = span
    return os.pread(file.fileno(), length, begin).decode()


_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class TaskTexts:
    """What one task makes of a paper. Texts are given by their places in `PreparedPaper.spans`.

    Attributes:
        unfit: why the paper cannot be shown, as target or demonstration; None if it can; then the other fields count.
        content: the sections of the main body, an empty line between them.
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
class CitedTexts:
    """A work that a paper's related work cites; `title` and `abstract` are places in `PreparedPaper.spans`."""

    id: str
    license: str
    authors: tuple[str, ...]
    title: int
    abstract: int


@dataclass(frozen=True, slots=True)
class PreparedPaper:
    """A paper as the tasks show it.

    Attributes:
        citations: of its related work, in the order of the reference list.
        cited_tokens: of these titles and abstracts.
        spans: where its texts are.
    """

    paper: Paper
    tasks: Mapping[Task, TaskTexts]
    citations: tuple[CitedTexts, ...]
    cited_tokens: int
    spans: tuple[Span, ...]

    def tokens_as_target(self, task: Task) -> int:
        """Count what a prompt shows of the paper when it is asked for, citations included."""
        return self.tasks[task].input_tokens + (self.cited_tokens if task == "related" else 0)

    def tokens_as_demonstration(self, task: Task) -> int:
        """Count what a prompt shows of the paper when it demonstrates."""
        return self.tasks[task].input_tokens + self.tasks[task].output_tokens


# A paper as the store has it: its record, its packed document, and the papers that it cites, by the number of the reference.
_StoredPaper: TypeAlias = tuple[Paper, bytes, Mapping[int, Paper]]


class _Texts:
    """The texts of one paper, each held and counted once."""

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        self._tokens: list[int] = []

    def add(self, *texts: str) -> tuple[int, ...]:
        """Hold some texts; return their places."""
        new = [text for text in dict.fromkeys(texts) if text not in self._positions]
        self._positions.update(zip(new, count(len(self._tokens)), strict=False))
        self._tokens += token_counter()(new)
        return tuple(self._positions[text] for text in texts)

    def tokens(self, positions: Iterable[int]) -> int:
        return sum(self._tokens[position] for position in positions)

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)


def _prepare(round_: Round, asked: Sequence[Task], stored: _StoredPaper) -> tuple[PreparedPaper, tuple[str, ...]]:
    """Prepare a paper without spans, and the texts that they will give; pure, for any process."""
    paper, packed, known = stored
    texts, document = _Texts(), unpack_document(packed, paper.id)
    tasks = {task: _task_texts(paper, document, task, round_, texts) for task in asked}
    related = set(cited_in_related_work(document))
    cited: list[CitedTexts] = []
    # A list of references may have one twice.
    for work in {work.id: work for i, work in known.items() if i in related}.values():
        title, abstract = texts.add(work.title, work.abstract)
        cited.append(CitedTexts(work.id, work.abstract_license, work.authors, title, abstract))
    tokens = texts.tokens(position for citation in cited for position in (citation.title, citation.abstract))
    return PreparedPaper(paper, tasks, tuple(cited), tokens, ()), tuple(texts)


def _task_texts(paper: Paper, document: Document, task: Task, round_: Round, texts: _Texts) -> TaskTexts:
    content, output = content_texts(document, task), target_of(paper, document, task)
    unfit = _unfit_reason(paper, task, content, output, round_)
    if unfit:
        return TaskTexts(unfit)
    # No token spans the empty line between two sections.
    sections, answer = texts.add(*content), texts.add(output)
    beside = texts.add(*shown_beside(paper.title, paper.abstract, task))
    return TaskTexts(
        unfit=None,
        content=sections,
        output=answer[0],
        input_tokens=texts.tokens((*sections, *beside)),
        output_tokens=texts.tokens(answer),
    )


def _unfit_reason(paper: Paper, task: Task, content: list[str], output: str, round_: Round) -> SampleReason | None:
    needs = round_.samples
    if not allows(paper.license, round_.licenses):
        return "license"
    if not paper.abstract:
        return "no_abstract"
    if not output and task in ("intro", "related"):
        return "no_introduction" if task == "intro" else "no_related_work"
    if task != "title" and len(output.split()) < needs.min_target_words:
        return "short_target"
    if NO_TEXT in output or (task != "title" and has_debris(output)):
        return "debris_in_target"
    if task != "title" and is_unreadable(output):
        return "unreadable_target"
    if is_shown(output, task, (*content, *shown_beside(paper.title, paper.abstract, task))):
        return "target_in_content"
    words = sum(map(_word_count, content))
    return None if words >= needs.min_content_words else "short_content"


def texts_of(workspace: Workspace) -> Path:
    """Return the file of the prepared texts; it exists only while a folder is written."""
    return workspace.round_.workspace / "build.texts"


def prepare_papers(workspace: Workspace, engine: Engine) -> dict[str, PreparedPaper]:
    """Prepare the papers of a round, by id; their texts go into a file."""
    round_, papers, documents = workspace.round_, workspace.papers, workspace.documents
    tasks = tuple(by_task(round_.chosen))
    store = documents.store if "related" in tasks else None

    def stored(paper: Paper) -> _StoredPaper:
        cited = _cited_papers(store, paper.id, round_.licenses, workspace.taken_down) if store else {}
        return paper, documents.packed_document(paper.id), cited

    given = map(stored, progress(papers, "prepare", len(papers)))
    # What another build left there is replaced.
    with texts_of(workspace).open("wb") as file:
        prepared = engine.map(partial(_prepare, round_, tasks), given, _AT_ONCE)
        return {paper.paper.id: replace(paper, spans=add_texts(file, texts)) for paper, texts in prepared}


def _cited_papers(store: Store, paper_id: str, licenses: Licenses, taken_down: Collection[str]) -> dict[int, Paper]:
    """Return what a paper cites, as far as the abstracts may be shown: of papers that were taken down, those in the public domain."""
    links = store.cited_ids(paper_id)
    papers = {
        paper.id: paper
        for paper in store.papers(set(links.values()))
        if allows(paper.abstract_license, licenses)
        and (paper.id not in taken_down or paper.abstract_license == PUBLIC_DOMAIN)
    }
    return {reference: papers[id_] for reference, id_ in links.items() if id_ in papers}
