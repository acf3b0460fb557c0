"""What of a paper recall asks for and shows: texts with their spans, the paragraphs that state them, and paragraphs around these."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from builder.extract.sections import OUTSIDE, normalise, split_number
from builder.families.reading.papers_read import PaperRead
from builder.families.recall.spans import TextSpan, candidates, stated, words_of
from builder.records import Section
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.families.recall.recall_row import PLACES, Place

# Words of a text that is asked for, and of its evidence; spans of a row.
MOST_ASKED, MOST_EVIDENCE, FEWEST_SPANS = 400, 1500, 3
_ENDS = {"conclusion": "conclusion", "discussion": "discussion"}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of a paper's shown text, by its characters; `number` counts the lines."""

    number: int
    start: int
    end: int
    text: str
    words: Counter[str]
    size: int

    def has(self, spans: Collection[TextSpan]) -> bool:
        """Tell whether it has one of some spans; names are sought within words too, as formulas glue them."""
        if any(not span.sought.isdisjoint(self.words) for span in spans):
            return True
        return any(span.text in self.text for span in spans if span.kind == "name")


class PaperText:
    """A paper's shown text by paragraphs."""

    def __init__(self, read: PaperRead) -> None:
        self.read = read
        self.text = read.shown.text

    @cached_property
    def paragraphs(self) -> list[Paragraph]:
        """All lines before the reference list."""
        found: list[Paragraph] = []
        start = 0
        for line in self.text[: self.read.shown.references].splitlines(keepends=True):
            shown = line.strip()
            if shown:
                begin = start + line.index(shown[0])
                found.append(
                    Paragraph(len(found), begin, begin + len(shown), shown, words_of(shown), len(shown.split()))
                )
            start += len(line)
        return found

    @cached_property
    def tokens(self) -> list[int]:
        """Reference tokens of each paragraph."""
        return token_counter()([paragraph.text for paragraph in self.paragraphs])

    @cached_property
    def words(self) -> frozenset[str]:
        """All that it has, by keys."""
        return frozenset(key for paragraph in self.paragraphs for key in paragraph.words)

    @cached_property
    def body(self) -> int:
        """The number of the first paragraph behind title and abstract."""
        first = min(self.read.shown.sections.values(), default=self.read.shown.references)
        # The heading of the first section is a line of its own.
        numbers = [paragraph.number for paragraph in self.paragraphs if paragraph.end < first]
        return max(0, len(numbers) - 1)


@dataclass(frozen=True, slots=True)
class AskedText:
    """A text that recall asks for, with its evidence.

    Attributes:
        section: what the prompt calls it.
        start, end: in characters of the paper's shown text.
        spans: each with how often the evidence has it.
        evidence: numbers of the paragraphs that are shown.
        stating: of these the ones that have a span.
    """

    paper: str
    section: str
    start: int
    end: int
    spans: tuple[tuple[TextSpan, int], ...]
    evidence: tuple[int, ...]
    stating: frozenset[int]

    @property
    def sought(self) -> tuple[TextSpan, ...]:
        """What no paragraph around the evidence may have."""
        return tuple(span for span, _ in self.spans)


def asked_texts(text: PaperText, is_rare: Callable[[str], bool]) -> list[AskedText]:
    """Return what recall asks about a paper: of its abstract, and of the end of its conclusion or discussion."""
    return [asked for section, first, last in _targets(text) if (asked := _asked(text, section, first, last, is_rare))]


def _targets(text: PaperText) -> list[tuple[str, Paragraph, Paragraph]]:
    """Return name, first and last paragraph of each text that could be asked for."""
    paragraphs, targets = text.paragraphs, []
    abstract = [each for each in paragraphs[2 : text.body] if not each.text.startswith("#")]
    if abstract and sum(each.size for each in abstract) <= MOST_ASKED:
        targets.append(("abstract", abstract[0], abstract[-1]))
    ends = [
        (name, at, at + len(text.read.document.sections[section].text))
        for section, at in text.read.shown.sections.items()
        if (name := _name_of(text.read.document.sections[section]))
    ]
    for name, begin, end in ends[-1:]:
        inside = [each for each in paragraphs if begin <= each.start and each.end <= end]
        last: list[Paragraph] = []
        for each in reversed(inside):
            if each.text.startswith("#") or sum(one.size for one in last) + each.size > MOST_ASKED:
                break
            last.insert(0, each)
        if last:
            targets.append((name, last[0], last[-1]))
    return targets


def _name_of(section: Section) -> str:
    if section.role in OUTSIDE:
        return ""
    words = normalise(split_number(section.heading)[1])
    return next((name for name, word in _ENDS.items() if word in words), "")


def _asked(
    text: PaperText, section: str, first: Paragraph, last: Paragraph, is_rare: Callable[[str], bool]
) -> AskedText | None:
    """Return the text with its evidence; None if too few of its spans are stated."""
    target = text.text[first.start : last.end]
    told = words_of(f"{text.read.paper.title} {section}").keys()
    spans = [span for span in candidates(target, is_rare, told) if span.end <= len(target)]
    end = len(text.paragraphs) if section == "abstract" else first.number
    before = [each for each in text.paragraphs[text.body : end] if not each.text.startswith("#")]
    known = stated(target, spans, [each.text for each in before])
    kept, evidence = _fitting([span for span, _ in known], before)
    known = stated(target, kept, [each.text for each in evidence])
    # Words alone have no headline score.
    if len(known) < FEWEST_SPANS or all(span.kind == "word" for span, _ in known):
        return None
    said = [span for span, _ in known]
    stating = frozenset(each.number for each in before if each.has(said))
    shown = _filled(evidence, before)
    return AskedText(
        text.read.paper.id, section, first.start, last.end, tuple(known), tuple(each.number for each in shown), stating
    )


def _fitting(spans: Sequence[TextSpan], before: Sequence[Paragraph]) -> tuple[list[TextSpan], list[Paragraph]]:
    """Return spans with all paragraphs that have one: those of many places are given up first, until the rest fits."""
    places = {span: sum(each.has([span]) for each in before) for span in spans}
    kept = sorted(spans, key=lambda span: (places[span], span.start))
    while kept:
        evidence = [each for each in before if each.has(kept)]
        if sum(each.size for each in evidence) <= MOST_EVIDENCE:
            return sorted(kept, key=lambda span: span.start), evidence
        kept.pop()
    return [], []


def _filled(evidence: Sequence[Paragraph], before: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the evidence with as many of its neighbours as fit, the nearest first."""
    taken = {each.number: each for each in evidence}
    total = sum(each.size for each in evidence)
    distance = {each.number: min(abs(each.number - number) for number in taken) for each in before}
    for each in sorted(before, key=lambda each: (distance[each.number], each.number)):
        if each.number not in taken and total + each.size <= MOST_EVIDENCE:
            taken[each.number] = each
            total += each.size
    return [taken[number] for number in sorted(taken)]


def placed(asked: Sequence[AskedText], order: Callable[[AskedText], bytes]) -> dict[AskedText, Place]:
    """Return the place of each text's evidence: within each kind of text all places as often, drawn by the papers' hashes."""
    places: dict[AskedText, Place] = {}
    for section in sorted({each.section for each in asked}):
        of_kind = sorted((each for each in asked if each.section == section), key=order)
        places |= {each: PLACES[number % len(PLACES)] for number, each in enumerate(of_kind)}
    return places
