"""How SCALAR shows a paper, the question's with a mask in it, and the candidates', as the published prompts do; or why there is none. And
the rows of its levels: their columns, whole and by id, and what is in them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from string import ascii_uppercase
from typing import Any, Literal

import pyarrow as pa

from builder.extract.sections import OUTSIDE, TopSection, parts
from builder.parquet.schema import TEXTS, RowSchema
from builder.records import Cited, Document, Mention, Paper, Role
from builder.sources.tokenizer import TokenCounter, token_counter
from lm_eval_tasks.base.contract import BODY, MASK
from lm_eval_tasks.families.scalar import CandidateText, Level, Scope

# Characters of any paper, the question's or a candidate's, where papers are cut.
MOST_CHARACTERS = 100_000
_NOT_BODY: frozenset[Role] = frozenset({"introduction", "conclusion"})


def question(
    document: Document,
    title: str,
    abstract: str,
    mention: Mention,
    part: TopSection,
    scope: Scope,
    all_parts: Sequence[TopSection],
    most: int | None = MOST_CHARACTERS,
) -> str | None:
    """What is inside <Paper>, with the citation masked; None if the mask lies beyond what is shown of a paper.

    Args:
        most: where it is cut, in characters; None for nowhere.
    """
    chosen = [part] if scope == "section" else all_parts
    section = document.sections[mention.section].text
    masked = f"{section[: mention.start]}{MASK}{section[mention.end :]}"
    text = "\n\n".join(_section_texts(document, chosen, {mention.section: masked}))
    paper_text = f"{title}\n\nAbstract: {abstract}\n\n\n{text}" if scope == "full" else f"\n{text}"
    cut = paper_text[:most]
    return cut if MASK in cut and paper_text.count(MASK) == 1 else None


def candidate(
    document: Document | None, abstract: str, kind: CandidateText, most: int | None = MOST_CHARACTERS
) -> str | None:
    """What follows a candidate's title, its text cut at `most` characters; None if the candidate lacks the text for it."""
    head = f"<Abstract>Abstract: {abstract}</Abstract>"
    if kind == "concise":
        return head if abstract else None
    if document is None:
        return None
    chosen = [part for part in parts(document) if kind == "full" or part.role not in _NOT_BODY]
    text = "\n\n".join(_section_texts(document, chosen, {}))[:most]
    if not text.strip() or (kind == "full" and not abstract):
        return None
    return f"{head}<Content>\n{text}\n</Content>" if kind == "full" else f"<Content>\n\n{text}\n\n</Content>"


def _section_texts(document: Document, chosen: Iterable[TopSection], instead: dict[int, str]) -> Iterator[str]:
    for part in chosen:
        for i in part.sections:
            section = document.sections[i]
            mark = "##" if i == part.sections[0] else "###"
            yield f"{mark} {section.heading}\n{instead.get(i, section.text)}".rstrip()


Lengths = Literal["cut", "published"]
# Why a cited work cannot be a candidate.
Unfit = Literal["gold_without_text", "gold_too_long"]
# Tokens of a candidate, as SCALAR's code limits them (src/tasks/cloze.py).
_MOST_TOKENS = 40_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the four papers of a question; `content` is what follows its title."""

    id: str
    title: str
    license: str
    content: str
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """One row of a SCALAR configuration.

    Attributes:
        text: what is inside <Paper>.
        label: index of the right candidate.
    """

    id: str
    paper: Paper
    level: Level
    section: str
    text: str
    candidates: tuple[Candidate, ...]
    label: int


def candidate_of(cited: Cited | None, level: Level, lengths: Lengths) -> Candidate | Unfit:
    """The candidate that a cited paper is, by what is known of it; or why it is none."""
    if cited is None:
        return "gold_without_text"
    paper, document = cited.paper, cited.document
    if lengths == "published" and document and _is_too_long(document):
        return "gold_too_long"
    content = candidate(document, paper.abstract, level.candidates, cut_at(lengths))
    if not content:
        return "gold_without_text"
    return Candidate(paper.versioned_id, paper.title, paper.license, content, paper.authors)


def cut_at(lengths: Lengths) -> int | None:
    """Where papers are cut, in characters; None for nowhere."""
    return MOST_CHARACTERS if lengths == "cut" else None


def _is_too_long(document: Document) -> bool:
    """Whether a candidate's sections have more tokens (bert-base-uncased) than SCALAR's code takes."""
    texts = [section.text for section in document.sections if section.role not in OUTSIDE]
    # A character is one token at most, or three if it is a syllable of Hangul.
    return 3 * sum(map(len, texts)) > _MOST_TOKENS and sum(token_counter()(texts)) > _MOST_TOKENS


# What a manifest calls the task.
TASK = "cloze"
_CANDIDATE = pa.struct(
    [*((name, pa.string()) for name in ("id", "title", "license", "content")), ("authors", pa.list_(pa.string()))]
)
_FORM = "round level citation_type question_paper distractors candidate_text section".split()
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "paper_id", "title", "published", "license", "target")),
        ("label", pa.int64()),
        ("input_tokens", pa.int64()),
        *((name, pa.string()) for name in _FORM),
        ("authors", pa.list_(pa.string())),
        ("question", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("candidates", pa.list_(_CANDIDATE)),
    ]
)
_TEXTS = ("title", "section", "question")
# What is made of other columns: harnesses that read plain columns take choices as texts and their letter as the target.
_MADE = ("choices", "target")
KEPT = tuple(name for name in COLUMNS.names if name not in (*_TEXTS, "candidates", *_MADE))
ID_COLUMNS = pa.schema(
    [
        *(COLUMNS.field(name) for name in KEPT),
        ("position", pa.int64()),
        ("candidates", pa.list_(pa.struct([(name, pa.string()) for name in ("id", "license")]))),
        TEXTS,
    ]
)


def row_of(question: ClozeQuestion) -> dict[str, Any]:
    """A question as a row, without its tokens and round."""
    paper, level = question.paper, question.level
    return {
        "id": question.id,
        "paper_id": paper.versioned_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "level": level.short_name,
        "section": question.section,
        "citation_type": level.citation,
        "question_paper": level.question,
        "distractors": level.distractors,
        "candidate_text": level.candidates,
        "question": question.text,
        "candidates": list(map(asdict, question.candidates)),
        "label": question.label,
        "published": paper.published.isoformat(),
        "license": paper.license,
    }


def with_token_counts(rows: Sequence[dict[str, Any]], round_name: str, count: TokenCounter) -> list[dict[str, Any]]:
    """The rows with their input tokens (bert-base-uncased; the prompt's own words are not counted) and their round."""
    # No token spans two lines, and a paper's questions differ in one line: only that one is counted again.
    row_texts = [
        [
            *row["question"].split("\n"),
            *(text for candidate in row["candidates"] for text in _candidate_texts(candidate, row)),
        ]
        for row in rows
    ]
    counts = iter(count([text for parts in row_texts for text in parts]))
    return [
        {**with_choices(row), "input_tokens": sum(next(counts) for _ in parts), "round": round_name}
        for row, parts in zip(rows, row_texts, strict=True)
    ]


def with_choices(row: dict[str, Any]) -> dict[str, Any]:
    """The row with each candidate as one text, and the letter of the right one."""
    choices = ["\n\n".join(_candidate_texts(candidate, row)) for candidate in row["candidates"]]
    return {**row, "choices": choices, "target": ascii_uppercase[row["label"]]}


def _candidate_texts(candidate: dict[str, Any], row: dict[str, Any]) -> list[str]:
    return [candidate["content"]] if row["candidate_text"] == BODY else [candidate["title"], candidate["content"]]


def texts(row: dict[str, Any]) -> dict[str, str]:
    """Every text of a question, by its place in it."""
    by_place = {name: row[name] for name in _TEXTS}
    for i, candidate in enumerate(row["candidates"]):
        by_place |= {f"candidates.{i}.{name}": candidate[name] for name in ("title", "content")}
    return by_place


def papers(row: dict[str, Any]) -> list[tuple[str, str]]:
    """(id with version, licence) of the papers whose texts a question shows, or would if it were whole."""
    return [
        (row["paper_id"], row["license"]),
        *((candidate["id"], candidate["license"]) for candidate in row["candidates"]),
    ]


SCHEMA = RowSchema(
    columns=COLUMNS,
    id_columns=ID_COLUMNS,
    paper_column="paper_id",
    shown_column="candidates",
    texts=texts,
    papers=papers,
)
