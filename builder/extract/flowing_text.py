"""The running text of a page of elements (HTML, JATS), and the places in it that cite: those that stand together as one mark, and the
works that it cites, those between the ends of a range too: "1–4, 6".
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from builder.extract.headings import Heading
from builder.extract.sections import normalise, role_of
from builder.records import Reference
from builder.sources.jats.markup import UNIT

# No blank belongs before these, although pages with every element on its own line have one there.
_CLOSING = tuple(".,;:)]")
_BLANKS = re.compile(r"\s+")
_UNIT = re.compile(rf"{UNIT} $")
# First character, the one after the last, and what a place in a text cites.
Cite = tuple[int, int, tuple[str, ...]]
_HYPHEN = r"[-‐‑‒–—−]"
# Words count within one mark alone: "from [3] to [17] steps" cites two works.
_DASH = rf"(?:{_HYPHEN}|\.{{3}}|…|\bto\b|\bthrough\b)"
# What stands between the marks of one bracket, and between the two ends of a range.
_ENDS = re.compile(rf"[\])]?\s*{_HYPHEN}\s*[\[(]?")
_JOINS = re.compile(rf"\s*(?:[,;]|and|&|,\s*and)?\s*|{_ENDS.pattern}")
_BRACKETS, _PREFIX = str.maketrans("", "", "[]()"), re.compile(r"(?:refs?\.?|references?)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:,\s*and\b|[,;&]|\band\b)\s*|\s+")
# Years have four digits.
_RANGE = re.compile(r"(\d{1,3})(?:–(\d{1,3}))?")
# What a section is called that is the abstract, and among how many of the first ones.
_ABSTRACTS, _MOST_BEFORE = ("abstract", "structured abstract", "abstract and keywords"), 5
# A wider one is a mistake in the file.
_WIDEST = 200


@dataclass(slots=True)
class FlowingText:
    """Text that grows with its blanks collapsed.

    Attributes:
        gaps: formulas that have no text.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    cites: list[Cite] = field(default_factory=list)
    gaps: int = 0

    def add(self, text: str | None) -> None:
        if not text:
            return
        # Most pieces need no change; every blank but the plain one is unprintable.
        if not text.isprintable() or "  " in text:
            text = _BLANKS.sub(" ", text)
        text = text[:-1] if text.endswith(("[ ", "( ")) else text
        last = self.pieces[-1][-1] if self.length else "\n"
        if text[0] == " " and (last in " \n[(" or text[1:2] in _CLOSING):
            text = text[1:]
        # A hat belongs to its letter.
        if (text[:1] in _CLOSING or text.strip() == "^") and last == " ":
            self._cut_blank()
        if text:
            self.pieces.append(text)
            self.length += len(text)

    def open_mark(self, mark: str) -> int:
        """Write what marks an element, see `raised_mark`; where the element begins. A bracket is set apart from the word before."""
        if mark == "[":
            self.add(" ")
        elif mark.startswith("^") and self.length and _UNIT.search("".join(self.pieces[-2:])):
            self._cut_blank()
        start = self.length
        if mark:
            self.pieces.append(mark)
            self.length += len(mark)
        return start

    def end(self) -> int:
        """Return where the text ends, a blank at its end left out."""
        return self.length - (self.length > 0 and self.pieces[-1].endswith(" "))

    def end_block(self) -> None:
        if self.length and self.pieces[-1].endswith(" "):
            self._cut_blank()
        if self.length and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
            self.length += 1

    def _cut_blank(self) -> None:
        self.pieces[-1] = self.pieces[-1][:-1]
        self.length -= 1
        if not self.pieces[-1]:
            self.pieces.pop()

    def __str__(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A section and its own text, that of deeper ones left out; `block_class` is what its element says of it."""

    heading: Heading
    block_class: str = ""
    text: FlowingText = field(default_factory=FlowingText)

    def __str__(self) -> str:
        return str(self.text).strip("\n")


def take_abstract(blocks: list[TextBlock]) -> str:
    """Take away a section called "Abstract" that stands before the introduction, or a "Summary" right before it; return its text, with that
    of its subsections.
    """
    for i, block in enumerate(blocks[:_MOST_BEFORE]):
        name = normalise(block.heading.words)
        if role_of(name) == "introduction":
            break
        end = i + 1
        while end < len(blocks) and blocks[end].heading.level > block.heading.level:
            end += 1
        is_before = any(role_of(after.heading.words) == "introduction" for after in blocks[end : end + 1])
        if name in _ABSTRACTS or (name == "summary" and is_before):
            parts = blocks[i + 1 : end]
            del blocks[i:end]
            texts = (str(block), *(f"{part.heading.words.strip(' .:')}: {part}" for part in parts))
            return "\n".join(text for text in texts if text.strip())
    return ""


def within_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the marker without the brackets around all of it, which a page counts in."""
    closing = {"(": ")", "[": "]"}.get(text[start : start + 1])
    return (start + 1, end - 1) if closing is not None and text.find(closing, start, end) == end - 1 else (start, end)


def runs(text: str, cites: Sequence[Cite], *, only_ranges: bool = False) -> Iterator[list[Cite]]:
    """Yield the citations that stand together as one mark; if `only_ranges`, only the two ends of a range do."""
    run: list[Cite] = []
    for cite in cites:
        if run and not (_ENDS if only_ranges else _JOINS).fullmatch(text[run[-1][1] : cite[0]]):
            yield run
            run = []
        run.append(cite)
    if run:
        yield run


def cited_by(printed: str, linked: Sequence[int], entries: Sequence[Reference]) -> tuple[int, ...]:
    """Return the places of the works that a mark cites: those that it links to, and those that its ranges imply.

    Args:
        printed: the mark; only one of numbers has ranges.
        linked: places of the works that it links to, at least one. If the numbers contradict them, they count alone.
    """
    numbers = _numbers(printed)
    if not numbers:
        return tuple(dict.fromkeys(linked))
    lists = list(_lists(entries))
    # Where numbers begin again, there is another list.
    own = {lists[index] for index in linked}
    indices: dict[int, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        if entry.label.isdecimal() and lists[index] in own:
            indices[int(entry.label)].append(index)
    if not indices:
        first = linked[0] - numbers[0]
        indices.update((number, [first + number]) for number in numbers if 0 <= first + number < len(entries))
    implied = [index for number in numbers for index in indices.get(number, ())]
    return tuple(dict.fromkeys(implied if set(linked) <= set(implied) else linked))


def _lists(entries: Sequence[Reference]) -> Iterator[int]:
    """Return for each entry the number of the list that it belongs to."""
    count, last = 0, 0
    for entry in entries:
        if entry.label.isdecimal():
            count += int(entry.label) < last
            last = int(entry.label)
        yield count


def _numbers(printed: str) -> list[int]:
    """Return the numbers of a mark, its ranges taken apart; none if it says anything else."""
    text = re.sub(rf"\s*{_DASH}\s*", "–", _PREFIX.sub("", printed.translate(_BRACKETS).strip(), count=1))
    numbers: list[int] = []
    for piece in filter(None, _BETWEEN.split(text)):
        if (match := _RANGE.fullmatch(piece)) is None:
            return []
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= first + _WIDEST:
            return []
        numbers += range(first, last + 1)
    return numbers
