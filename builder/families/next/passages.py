"""Passages: sections cut at sentence ends into stretches of about the same length, neutral in what they show."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from builder.families.reading.neutral import SENTENCE_END, edits_of
from builder.families.reading.papers_read import PaperRead
from builder.seeding import digest_of
from lm_eval_tasks.families.reading.prompt import edited
from lm_eval_tasks.families.reading.row import Edit

# Words of a passage: twice the shortest is no more than the longest, so that every rest of a passage or more can be cut.
SHORTEST, LONGEST = 175, 350
_BEGINS = re.compile(r"[\W\d]{0,4}(?:[A-Z]|\[)")
_ENDS = re.compile(r"[.?!:;)\]”\"']\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a paper's shown text.

    Attributes:
        section: of the document, and `number` of the passage in it.
        edits: in characters of the shown text.
        begins_whole, ends_whole: whether it begins and ends as sentences do, as far as a file's debris lets it.
    """

    paper: str
    section: int
    number: int
    start: int
    end: int
    edits: tuple[Edit, ...]
    begins_whole: bool
    ends_whole: bool

    @property
    def key(self) -> tuple[str, int, int]:
        return self.paper, self.section, self.number


def passages_of(read: PaperRead) -> list[Passage]:
    """The passages of a paper, section after section."""
    return [passage for section in sorted(read.called) for passage in _of_section(read, section)]


def _of_section(read: PaperRead, section: int) -> Iterator[Passage]:
    text = read.document.sections[section].text
    cited = [(mention.start, mention.end) for mention in read.document.mentions if mention.section == section]
    edits = edits_of(text, cited)
    at = read.shown.sections[section]
    for number, (start, end) in enumerate(_stretches(text, edits, f"{read.paper.id} {section}")):
        inside = [
            Edit(max(start, edit.start), min(end, edit.end), edit.text)
            for edit in edits
            if edit.start < end and start < edit.end
        ]
        moved = tuple(Edit(edit.start + at, edit.end + at, edit.text) for edit in inside)
        shown = edited(text, start, end, inside)
        ends_paragraph = "\n" in text[end : end + 2]
        whole = _BEGINS.match(shown) is not None, ends_paragraph and _ENDS.search(shown) is not None
        yield Passage(read.paper.id, section, number, start + at, end + at, moved, *whole)


def _stretches(text: str, edits: Sequence[Edit], seed: str) -> Iterator[tuple[int, int]]:
    """Where a section is cut: at ends of paragraphs, as far as the bounds of a passage let it; nothing if it is too short.

    The last passage is told from others by its length as little as any: each cut is drawn from those that leave a rest which can be
    cut within the bounds.
    """
    ends = _possible_cuts(text, edits)
    words = accumulate(_words(text, start, end, edits) for start, end in zip([0, *ends], ends, strict=False))
    reached = dict(zip(ends, words, strict=True))
    total, start, done = reached[ends[-1]], 0, 0
    while total - done >= SHORTEST:
        fitting = [
            end
            for end in ends
            if SHORTEST <= reached[end] - done <= LONGEST and not 0 < total - reached[end] < SHORTEST
        ]
        if not fitting:
            return
        at_paragraphs = [end for end in fitting if end == ends[-1] or "\n" in text[end - 1 : end + 1]]
        end = min(at_paragraphs or fitting, key=lambda end: digest_of(seed, end))
        yield _trimmed(text, start, end)
        start, done = end, reached[end]


def _possible_cuts(text: str, edits: Sequence[Edit]) -> list[int]:
    """The ends of sentences and of paragraphs that end with one, outside what is replaced; the end of the text last."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    covered = [(edit.start, edit.end) for edit in edits]
    free = [end for end in ends if not any(start < end < stop for start, stop in covered)]
    return [*free, len(text)] if not free or free[-1] < len(text) else free


def _words(text: str, start: int, end: int, edits: Sequence[Edit]) -> int:
    inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
    return len(edited(text, start, end, inside).split())


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip())
