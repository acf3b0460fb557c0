"""Whether a citation stands alone, and whether it names what it cites: by the words around it.

Attributional citations name a method, model, dataset or product; descriptive ones work a reference into what they say
(SCALAR paper, figure 2). The type is decided by a linear model over hashed features of the context, and a second one over its
scores for the other citations of the same work and of the paper; `weights.npz` holds both.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np

from lm_eval_tasks.families.scalar import CitationType

_SURNAME = r"[A-Z][\w’'`\-]+"
_NAMED = rf"{_SURNAME}(?:\s+et\s+al\.?|\s+(?:and|&)\s+{_SURNAME})?(?:,?,?\s*\(?\s*)(?:19|20)\d\d[a-z]?"
_NUMBER = r"\[\s*\d{1,3}[a-z]?\]?"
_SEPARATED = r"[\s\])]*[,;–\-]\s*(?:e\.g\.,?\s*|and\s+|see\s+)?[\s(\[]*"
_GOES_ON = re.compile(rf"^{_SEPARATED}(?:{_NUMBER}|{_NAMED})|^\s?\]\s?\[\s*\d|^\[\d{{1,3}}\]|^\]?\)?\s?\(\s*{_NAMED}")
_BEGAN = re.compile(
    rf"(?:{_NUMBER}|{_NAMED}|(?:19|20)\d\d[a-z]?|\[?[a-z]\]){_SEPARATED}$|(?:{_NUMBER}|{_NAMED})[\])]+\s?[(\[]+\s*$"
)
_NEAR = 80


@dataclass(frozen=True, slots=True)
class CitationInText:
    """A citation and the text on both sides of it.

    Attributes:
        section: the heading of its section.
        reference: what it cites, however named; "" if it cites several works.
        single: whether it stands alone.
    """

    before: str
    citation: str
    after: str
    section: str = ""
    reference: str = ""
    single: bool = True


def is_single(citation: CitationInText) -> bool:
    """Tell whether a citation stands alone, not in a row with others."""
    before, after = plain(citation.before)[-_NEAR:], plain(citation.after)[:_NEAR]
    return not (_GOES_ON.match(after) or _BEGAN.search(before))


def plain(text: str) -> str:
    """Return the text without what conversion to Markdown adds around citations."""
    text = text.replace("\\[", "[").replace("\\]", "]").replace("\\(", "(").replace("\\)", ")")
    text = re.sub(r"\[(\d{4}[a-z]?)\]", r"\1", text)
    return re.sub(r"\[\s+\[", "[", text)


_WEIGHTS = Path(__file__).parent / "weights.npz"
_OTHER = re.compile(
    rf"{_NUMBER}\s*\]?|{_SURNAME}(?:\s+et\s+al\.?|\s+(?:and|&)\s+{_SURNAME})?,*\s*\(?\s*(?:19|20)\d\d[a-z]?\)?"
)
_OPENING = re.compile(r"[\s(\[\\{]+$")
_CLOSING = re.compile(r"^[\s)\]\\]+")
_TOKEN = re.compile(r"[^\W_]+(?:[-+'’./*][^\W_]+)*\+*|[^\s\w]")
_ACRONYM = re.compile(r"[A-Z].*[A-Z0-9]|[a-z][A-Z]")
_BEFORE, _AFTER = 200, 100
_TOKENS_BEFORE, _TOKENS_AFTER = 14, 8


def types_of(citations: Sequence[CitationInText]) -> list[CitationType]:
    """Return the types of a paper's citations, in the order of its text, those in groups included."""
    if not citations:
        return []
    decided = _model().decide(citations, [feature_numbers(features(citation)) for citation in citations])
    return ["attributional" if value > 0 else "descriptive" for value in decided]


@dataclass(frozen=True, slots=True)
class First:
    """The first model, a sum of linear ones: weights of plain features, and of features weighted by how rare they are.

    Attributes:
        indices: what the features go by, sorted.
        plain, rare: their weights.
        squares: how rare they are, squared; the length of a citation's rare features is taken off their score.
    """

    indices: np.ndarray
    plain: np.ndarray
    rare: np.ndarray
    squares: np.ndarray

    def score(self, hashes: np.ndarray) -> float:
        """Return above 0 for attributional, by the numbers of the features."""
        at = known_columns(hashes, self.indices)
        length = float(np.sqrt(self.squares[at].sum())) or 1.0
        return float(self.plain[at].sum() + self.rare[at].sum() / length)


def known_columns(hashes: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the places of hashed features among the known ones; unknown features are left out."""
    at = np.searchsorted(indices, hashes).clip(max=len(indices) - 1)
    return np.asarray(at[indices[at] == hashes])


@dataclass(frozen=True, slots=True)
class Model:
    """Both models; `second` holds the weights of `neighbourhood`'s columns and a constant, shape (10,)."""

    first: First
    second: np.ndarray

    def decide(self, citations: Sequence[CitationInText], hashes: Sequence[np.ndarray]) -> np.ndarray:
        """Return the scores of a paper's citations, above 0 for attributional, by the numbers of their features."""
        table = neighbourhood(citations, list(map(self.first.score, hashes)))
        return np.asarray(table @ self.second[:-1] + self.second[-1])


def neighbourhood(citations: Sequence[CitationInText], scores: Sequence[float]) -> np.ndarray:
    """Return what the second model sees of each citation: its score, those of the same work's other citations, of its neighbours, of
    the paper; shape (citations, 9).
    """
    of_work: dict[str, list[int]] = defaultdict(list)
    for i, citation in enumerate(citations):
        of_work[citation.reference or f"#{i}"].append(i)
    alone = [i for i, citation in enumerate(citations) if citation.single]
    total = sum(scores[i] for i in alone)
    # The score of a citation's neighbour, 0 before the first and behind the last.
    padded = [0.0, *scores, 0.0]
    rows = []
    for i, citation in enumerate(citations):
        others = [k for k in of_work[citation.reference or f"#{i}"] if k != i]
        theirs = [scores[k] for k in others]
        single = [scores[k] for k in others if citations[k].single]
        rest = len(alone) - citation.single
        rows.append(
            [
                scores[i],
                fmean(theirs or [0.0]),
                len(theirs),
                max(theirs, default=0.0),
                fmean(single or [0.0]),
                len(single),
                (total - citation.single * scores[i]) / rest if rest else 0.0,
                padded[i],
                padded[i + 2],
            ]
        )
    return np.array(rows)


def features(citation: CitationInText) -> list[str]:
    """Return what the first model sees: the words before and after, their shapes, and how the citation is written."""
    before, after = plain(citation.before)[-_BEFORE:], plain(citation.after)[:_AFTER]
    opened = _OPENING.search(before)
    style = _style(citation.citation) + (opened.group().strip()[-1:] if opened else "")
    core = _OPENING.sub("", _OTHER.sub(" CIT ", before))
    words = _TOKEN.findall(core)[-_TOKENS_BEFORE:]
    behind = _TOKEN.findall(_CLOSING.sub(" ) ", _OTHER.sub(" CIT ", after)))[:_TOKENS_AFTER]
    lower, shapes = [word.lower() for word in words], [_shape(word) for word in words]
    last = words[-1] if words else ""
    names = ["bias", f"style={style}", f"style={style}|{_shape(last)}", f"style={style}|{' '.join(behind[:2]).lower()}"]
    for n in range(1, min(6, len(words)) + 1):
        names += [f"b{n}={lower[-n]}", f"s{n}={shapes[-n]}"]
    for n in range(2, min(4, len(words)) + 1):
        names += [f"bb{n}={' '.join(lower[-n:])}", f"ss{n}={' '.join(shapes[-n:])}"]
    names += [f"in={word}" for word in set(lower[-10:])]
    names += [f"in={a} {b}" for a, b in zip(lower[-8:], lower[-7:], strict=False)]
    for n, word in enumerate(behind[:4]):
        names += [f"a{n}={word.lower()}", f"as{n}={_shape(word)}"]
    names += [f"aa{n}={' '.join(behind[:n]).lower()}" for n in (2, 3)]
    names += [f"after={word}" for word in {word.lower() for word in behind}]
    names += [f"end={last[-n:].lower()}" for n in range(1, 6)]
    names += [f"c={core[-25:][i : i + n]}" for n in (3, 4, 5) for i in range(len(core[-25:]) - n + 1)]
    names += [f"two={_shape(last)}|{lower[-2] if len(lower) > 1 else ''}"]
    return (
        names + _positions(words, style, before, after) + [f"h={w}" for w in _TOKEN.findall(citation.section.lower())]
    )


def _positions(words: Sequence[str], style: str, before: str, after: str) -> list[str]:
    """Return how far back an acronym, a capital and the sentence's beginning are; whether this is a table."""
    backwards = list(enumerate(reversed(words), 1))
    acronym = next((n for n, word in backwards if _ACRONYM.search(word)), 0)
    capital = next((n for n, word in backwards if word[:1].isupper()), 0)
    sentence = next((n for n, word in backwards if word in ".:;"), 20)
    return [
        f"acronym={acronym}",
        f"acronym={acronym}|{style}",
        f"capital={capital}",
        f"sentence={sentence}",
        f"line={chr(10) in before[-40:]}",
        f"table={'|' in before[-60:]}{'|' in after[:60]}",
    ]


def _style(citation: str) -> str:
    bare = citation.strip()
    if re.match(r"[A-Z]", bare) and "(" in bare:
        return "textual"
    return "number" if re.fullmatch(r"\d{1,3}", bare.removeprefix("[").removesuffix("]").strip()) else "named"


def _shape(word: str) -> str:
    return re.sub(r"[0-9]+", "0", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", word)))[:8]


def feature_numbers(names: Sequence[str]) -> np.ndarray:
    """Return the numbers that stand for features, each once."""
    return np.unique(np.array([zlib.crc32(name.encode()) for name in names], dtype=np.uint32))


@cache
def _model() -> Model:
    with np.load(_WEIGHTS, allow_pickle=False) as file:
        first = First(file["indices"], *(file[name].astype(np.float64) for name in ("plain", "rare", "squares")))
        return Model(first, file["second"])
