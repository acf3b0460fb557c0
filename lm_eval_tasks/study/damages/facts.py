"""Damage to what a text states: numbers, names, citations, what is denied and what is compared."""

from __future__ import annotations

import random
import re

from lm_eval_tasks.metrics.names import ShownNames
from lm_eval_tasks.metrics.names import names as names_of
from lm_eval_tasks.metrics.numbers import numbers as numbers_of
from lm_eval_tasks.study.damages.base import Damaged, Material, replace_spans, some

_DIGITS = re.compile(r"(?<![\w.\[])\d[\d,]*(?:\.\d+)?(?![\w\]])")
_TRIES = 40


def numbers(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Change numbers, keeping their form and magnitude; a new number is one that the paper does not have."""
    taken = {number.value for number in numbers_of(material.body)} | {number.value for number in numbers_of(text)}
    stated = {number.start for number in numbers_of(text)}
    spans = [match.span() for match in _DIGITS.finditer(text) if match.start() in stated]
    chosen, words = [], []
    for i in some(len(spans), strength, rng):
        start, end = spans[i]
        if (new := _another_number(text[start:end], taken, rng)) is not None:
            chosen.append((start, end))
            words.append(new)
    return Damaged(replace_spans(text, chosen, words), len(chosen)) if chosen else None


def _another_number(number: str, taken: set[float], rng: random.Random) -> str | None:
    """Another number of the same form and magnitude that is not taken."""
    plain = number.replace(",", "")
    decimals = len(plain.partition(".")[2])
    value = float(plain)
    unit = 10.0**-decimals
    for _ in range(_TRIES):
        new = round(value * rng.uniform(0.6, 1.6) + rng.choice((-1, 1)) * unit * rng.randint(1, 9), decimals)
        if new <= 0 or abs(new - value) < unit / 2 or any(abs(new - other) < unit / 2 for other in taken):
            continue
        text = f"{new:,.{decimals}f}" if "," in number else f"{new:.{decimals}f}"
        if len(text.replace(",", "").partition(".")[0]) == len(plain.partition(".")[0]):
            return text
    return None


def names(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Swap names and acronyms for another paper's, which this paper does not have in any form."""
    paper_names = ShownNames(f"{material.body} {text}")
    pool = [name for name in names_of(material.other_body or material.other) if not paper_names.support(name)]
    text_names = names_of(text)
    if not text_names or not pool:
        return None
    changes = {text_names[i]: rng.choice(pool) for i in some(len(text_names), strength, rng)}
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(changes, key=len, reverse=True)))})(?![\w-])")
    damaged = pattern.sub(lambda match: changes[match[0]], text)
    return Damaged(damaged, len(changes)) if damaged != text else None


_CITATION = re.compile(r"\[(\d{1,3})\]|Target Citation (\d{1,3})", re.IGNORECASE)


def citations(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Let citations point to other works of the list."""
    matches = list(_CITATION.finditer(text))
    known = sorted({int(match[1] or match[2]) for match in matches} | set(range(len(material.citations))))
    if not matches or len(known) < 2:
        return None
    chosen = [matches[i] for i in some(len(matches), strength, rng)]
    words = []
    for match in chosen:
        number = int(match[1] or match[2])
        words.append(match[0].replace(str(number), str(rng.choice([other for other in known if other != number]))))
    return Damaged(replace_spans(text, [match.span() for match in chosen], words), len(chosen))


# A claim and its denial, of as many words.
_DENIALS = (
    ("can", "cannot"),
    ("could", "couldn't"),
    ("does", "doesn't"),
    ("do", "don't"),
    ("is", "isn't"),
    ("are", "aren't"),
    ("was", "wasn't"),
    ("were", "weren't"),
    ("will", "won't"),
    ("has", "hasn't"),
    ("have", "haven't"),
    ("improves", "worsens"),
    ("improve", "worsen"),
    ("outperforms", "underperforms"),
    ("outperform", "underperform"),
    ("effective", "ineffective"),
    ("significantly", "insignificantly"),
    ("achieves", "misses"),
    ("achieve", "miss"),
    ("shows", "disproves"),
    ("show", "disprove"),
    ("demonstrates", "refutes"),
    ("demonstrate", "refute"),
    ("supports", "contradicts"),
    ("enables", "prevents"),
    ("enable", "prevent"),
)
# "not" alone may deny anything.
_ASSERTIONS = {f"{verb} not": f"{verb} indeed" for verb in "can could does do is are was were will has have".split()}
_OPPOSITES = (
    ("higher", "lower"),
    ("more", "less"),
    ("better", "worse"),
    ("larger", "smaller"),
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("increased", "decreased"),
    ("increasing", "decreasing"),
    ("faster", "slower"),
    ("greater", "smaller"),
    ("stronger", "weaker"),
    ("best", "worst"),
    ("most", "least"),
    ("above", "below"),
    ("before", "after"),
    ("reduces", "raises"),
    ("reduce", "raise"),
    ("reducing", "raising"),
    ("gains", "losses"),
    ("improvement", "decline"),
    ("improvements", "declines"),
    ("longer", "shorter"),
    ("easier", "harder"),
    ("highest", "lowest"),
    ("fewer", "more"),
    ("high", "low"),
    ("large", "small"),
    ("strong", "weak"),
    ("positive", "negative"),
)


def negate_claims(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Deny claims, or assert what was denied."""
    return _swap_words(text, {**dict(_DENIALS), **{b: a for a, b in _DENIALS}, **_ASSERTIONS}, strength, rng)


def comparisons(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Turn comparisons round."""
    return _swap_words(text, {**{b: a for a, b in _OPPOSITES}, **dict(_OPPOSITES)}, strength, rng)


def _swap_words(text: str, changes: dict[str, str], strength: float, rng: random.Random) -> Damaged | None:
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(changes, key=len, reverse=True))})\b(?!['’])", re.IGNORECASE)
    matches = list(pattern.finditer(text))
    chosen = [matches[i] for i in some(len(matches), strength, rng)]
    if not chosen:
        return None
    words = [_match_case(changes[match[0].casefold()], match[0]) for match in chosen]
    return Damaged(replace_spans(text, [match.span() for match in chosen], words), len(chosen))


def _match_case(word: str, like: str) -> str:
    return word[0].upper() + word[1:] if like[0].isupper() else word
