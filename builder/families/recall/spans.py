"""Spans of a text that its evidence states too: numbers, names and rare words."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from builder.families.reading.neutral import SENTENCE_END
from builder.parquet.schema import Row
from lm_eval_tasks.base.rouge import FUNCTION_WORDS
from lm_eval_tasks.families.recall.recall_row import SpanKind

# Thousands may be parted, and the 0 before a decimal left out.
_PER_CENT = r"(?:[ \u00a0]?%)?"
_NUMBER = re.compile(rf"(?<![\w.,/^_-])(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+){_PER_CENT}")
# What may stand behind a number without a blank: "10.5ms", "1.5x". Capitals are left to names: "1.5B".
_UNIT = re.compile(r"(?:x|×|fps|pp|dB|[mkMG]?Hz|[mkMGT]?eV|[kMGT]i?B|[nμmc]?[ms]|k?[mg]|min|h)(?!\w)")
# Any number, wherever it stands, those of a list one by one, and the ways to write its per cent sign.
_DIGITS = re.compile(r"(?:(?<![\w.])\.)?\d+(?:,\d{3}(?!\d))*(?:\.\d+)*%?")
_SIGN = re.compile(r"[\s\u00a0]?(?:\\?%|\bper ?cent\b)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_HYPHENS = str.maketrans("‐‑", "--")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
# What stands before a number that is a label or a reference.
_LABEL = re.compile(
    r"(?:\b(?:tables?|tabs?|figures?|figs?|sections?|sect?s?|equations?|eqn?s?|chapters?|appendix|theorems?|thms?|lemmas?|propositions?|props?"
    r"|corollar(?:y|ies)|definitions?|defs?|remarks?|assumptions?|examples?|claims?|lines?|algorithms?|algs?|steps?|versions?|refs?|pp?|pages?"
    r"|property|properties|observations?|conditions?|problems?|listings?|hypothes[ei]s|conjectures?|facts?|formulas?|questions?|exercises?"
    r"|parts?|phases?|releases?|builds?|vol|no|arxiv|doi)\b[.:]?|[\[#§vV])[\s(]*$",
    re.IGNORECASE,
)
# The same before more than one: "Figures 101 and 102", "[12, 345]".
_LABELS = re.compile(
    r"\b(?:tables|tabs|figures|figs|sections|sects|secs|equations|eqns|eqs|properties|observations|conditions|problems|hypotheses|chapters|appendices|theorems|lemmas|propositions"
    r"|corollaries|definitions|remarks|assumptions|examples|claims|lines|algorithms|steps|versions|refs|pp|pages|nos)\b\.?[\s(]*(?:\d[\w.()]*[\s,;]*(?:[,;&–-]|\b(?:and|or|to)\b)[\s(]*)+$"
    r"|\[(?:\d{1,3}\s*[,;–-]\s*)+$",
    re.IGNORECASE,
)
_LONGEST_LIST, _NEAR = 80, 8
# The rest of a date, of a decimal with a comma, of a number with a power of ten, or of one whose thousands stand apart: "24.12.2023",
# "99,9", "2.5 × 10^3", "88 657"; and the beginning of the last.
_MORE_DIGITS = re.compile(r"[.,]\d|\s?[×·]\s?10|\s\d{3}(?!\w)")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}\s$")
# A version behind a name: "Llama 3.3", "Claude 2.1"; and behind names that have longer ones: "Python 3.11", "IEEE 802.11".
_VERSION, _NAMED = re.compile(r"\d{1,2}\.\d"), re.compile(r"(?<![.?!] )\b[A-Z][\w-]*[ -]$")
_VERSIONED = re.compile(
    r"\b(?:Python|PyTorch|TensorFlow|JAX|CUDA|cuDNN|Ubuntu|Debian|Linux|Windows|macOS|Android|Java|Spark|MATLAB|Stata|SPSS|SAS|GCC|Transformers"
    r"|IEEE|ISO|IEC|RFC|PEP)[ -]$"
)
# A whole number behind capitals belongs to a name: "RTX 4090", "CIFAR 100"; and a numeral of Rome is none.
_ACRONYM, _ROMAN = re.compile(r"\b[A-Z]{2,}[ -]$"), re.compile(r"[IVX]+")
# The shortest name, and the shortest rare word.
_NAME, _RARE = 3, 6
# Words of more letters that say something, and how many of them a sentence of the evidence must share.
_CONTENT, _SHARED = 4, 3


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A stretch of a text, by its characters."""

    kind: SpanKind
    start: int
    end: int
    text: str

    def to_row(self, times: int) -> Row:
        """Write it as rows do, with how often the evidence has it."""
        return {"kind": self.kind, "start": self.start, "end": self.end, "times": times}

    @property
    def key(self) -> str:
        """What it is stated by."""
        return key_of(self.text)

    @property
    def sought(self) -> frozenset[str]:
        """What it is sought by: a number also with the other of two signs, with and without that of per cent."""
        bare = self.key.removesuffix("%")
        return frozenset({bare, f"{bare}%"} if self.kind == "number" else {self.key})


def key_of(text: str) -> str:
    """Return a text as spans are sought: case, hyphens, the plural's s and the blank before a per cent sign do not count."""
    folded = _SIGN.sub("%", text).translate(_HYPHENS).casefold().replace("-", "").replace(",", "")
    if folded.startswith("."):
        return f"0{folded}"
    return folded[:-1] if len(folded) > _NAME and folded.endswith("s") else folded


def words_of(text: str) -> Counter[str]:
    """Count what a text has that spans can be: numbers and words, by their keys."""
    text = _SIGN.sub("%", text).translate(_HYPHENS)
    numbers, tokens = (Counter(key_of(match.group()) for match in each.finditer(text)) for each in (_DIGITS, _TOKEN))
    # A whole number is a token, too.
    found = numbers | tokens
    joined = (match.group() for match in _TOKEN.finditer(text) if "-" in match.group())
    found.update(key_of(part) for word in joined for part in word.split("-"))
    return found


def candidates(text: str, is_rare: Callable[[str], bool], told: Collection[str]) -> list[TextSpan]:
    """Return the spans of a text, each at its first place.

    Args:
        is_rare: whether a name or word stands in few papers, by its key.
        told: keys that the question gives away.
    """
    found: list[TextSpan] = []
    for span in sorted([*_numbers(text), *_names(text)], key=lambda span: span.start):
        is_asked = span.sought.isdisjoint(told) and (span.kind == "number" or is_rare(span.key))
        if is_asked and span.sought.isdisjoint(words_of(text[: span.start])):
            found.append(span)
    return found


def _numbers(text: str) -> Iterator[TextSpan]:
    for match in _NUMBER.finditer(text):
        number, before = match.group(), text[max(0, match.start() - _LONGEST_LIST) : match.start()]
        behind = text[match.end() : match.end() + _NEAR]
        digits = re.sub(r"\D", "", number)
        says_much = "." in number or "%" in number or len(digits) >= 3
        if says_much and not _is_label(number, before) and not _is_part(number, before, behind):
            yield TextSpan("number", match.start(), match.end(), number)


def _is_label(number: str, before: str) -> bool:
    """Tell whether a number is a year, or says which table, section or reference is meant."""
    if _YEAR.fullmatch(number) or _LABEL.search(before):
        return True
    return "%" not in number and _LABELS.search(before) is not None


def _is_part(number: str, before: str, behind: str) -> bool:
    """Tell whether a number is part of a name, a version, a date or a longer number."""
    if _VERSIONED.search(before) or (_VERSION.fullmatch(number) and _NAMED.search(before)):
        return True
    if number.isdigit() and (_ACRONYM.search(before) or (len(number) == 3 and _THOUSANDS.search(before))):
        return True
    if behind[:1] in ("-", "/", "^", "_") or _MORE_DIGITS.match(behind):
        return True
    is_glued = behind[:1].isalpha() and "%" not in number
    return is_glued and _UNIT.match(behind) is None


def _names(text: str) -> Iterator[TextSpan]:
    for match in _WORD.finditer(text):
        word = match.group()
        inside = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
        if "-" in word or any(sign.isdigit() or sign == "_" for sign in inside):
            continue
        if len(word) >= _NAME and any(map(str.isupper, word[1:])) and not _ROMAN.fullmatch(word):
            yield TextSpan("name", match.start(), match.end(), word)
        elif len(word) >= _RARE and word.islower():
            yield TextSpan("word", match.start(), match.end(), word)


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of a text begins and ends."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    return list(pairwise([0, *ends, len(text)]))


def content_words(text: str) -> set[str]:
    """Return what a sentence says, as keys of its words."""
    words = (match.group().casefold() for match in _WORD.finditer(text))
    return {key_of(word) for word in words if len(word) >= _CONTENT and word not in FUNCTION_WORDS}


def stated(text: str, spans: Iterable[TextSpan], evidence: Sequence[str]) -> list[tuple[TextSpan, int]]:
    """Return the spans that one sentence of the evidence holds together with three other content words of their own sentence; each with
    how often the evidence has it.

    Args:
        evidence: paragraphs.
    """
    own = [(start, end, content_words(text[start:end])) for start, end in sentences(text)]
    known = [
        (words_of(paragraph[start:end]), content_words(paragraph[start:end]))
        for paragraph in evidence
        for start, end in sentences(paragraph)
    ]
    found: list[tuple[TextSpan, int]] = []
    for span in spans:
        around = next(words for start, end, words in own if start <= span.start < end) - {span.key}
        holding = [(counts[span.key], words) for counts, words in known if span.key in counts]
        if any(len(around & words) >= _SHARED for _, words in holding):
            found.append((span, sum(count for count, _ in holding)))
    return found
