"""Beginnings of papers: what a prompt shows in place of a whole body, the same text for every model.

The context `other` shows the beginning of another test paper: what a paper's own text is worth beyond any paper's, for its form alone
already says how such texts are written.
"""

import hashlib
import logging
import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import islice

from lm_eval_tasks.base.contract import OTHER, START, WORDS, Context
from lm_eval_tasks.families.writing.writing_row import WritingRow

_LOGGER = logging.getLogger(__name__)
# Letters that are more than a base with a mark.
_PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"})


def bodies_of(rows: Sequence[WritingRow], numbers: Sequence[int], context: Context, *, pairs: bool) -> dict[int, str]:
    """Return what some rows show of a body, by their numbers.

    Args:
        rows: all of the split, so that a row's partner does not depend on how many of them are asked.
        pairs: whether the rows are asked in the context `other` too; the beginning of a paper and that of its partner then have as many
            words as the shorter one.

    Returns:
        No text for a row whose context is `other`, and that has no partner.
    """
    most = WORDS[START if context == OTHER else context]
    own = {number: without(rows[number].content, rows[number].target) for number in numbers}
    if not pairs or context not in (OTHER, START):
        return {number: first_words(body, most) for number, body in own.items()}
    lengths = [len(row.content.split()) for row in rows]
    authors = [frozenset(map(_author, row.authors)) for row in rows]
    bodies: dict[int, str] = {}
    for number, body in own.items():
        partner = _partner_of(number, rows, lengths, authors)
        if partner is not None:
            other = without(rows[partner].content, rows[partner].target, rows[number].target)
            count = min(most, len(body.split()), len(other.split()))
            bodies[number] = first_words(other if context == OTHER else body, count)
        elif context == START:
            bodies[number] = first_words(body, most)
    return bodies


def without(text: str, *targets: str) -> str:
    """Return a text without what is asked for, of the paper and of the row in which it is shown."""
    for target in targets:
        text = text.replace(target, "")
    return text


def first_words(text: str, count: int) -> str:
    """Return a text up to its last word of so many."""
    last = next(islice(re.finditer(r"\S+", text), max(0, count - 1), None), None)
    return text[: last.end()] if last and count else text * bool(count)


def _partner_of(
    number: int, rows: Sequence[WritingRow], lengths: Sequence[int], authors: Sequence[frozenset[str]]
) -> int | None:
    """Find the paper without an author in common that is the nearest in category, then in length; None if there is none."""
    own = rows[number]
    strangers = [i for i in range(len(rows)) if lengths[i] and not authors[i] & authors[number] and i != number]

    def distance(i: int) -> tuple[bool, float, bytes]:
        apart = abs(math.log(lengths[i] / max(1, lengths[number])))
        tie = hashlib.sha256(f"{own.id}|{rows[i].id}".encode()).digest()
        return rows[i].primary_category != own.primary_category, apart, tie

    return min(strangers, key=distance, default=None)


def _author(name: str) -> str:
    """Return the last name and the first initial: who may be one person counts as one."""
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_PLAIN)
    letters = plain.encode("ascii", "ignore").decode() or name.casefold()
    words = re.findall(r"\w+", letters) or [name or "?"]
    return f"{words[-1]} {words[0][0]}"


def tell_of_lonely(config: str, lonely: int, count: int) -> None:
    """Say how many rows have no other paper to show."""
    if lonely:
        _LOGGER.warning(
            "%s: %d of %d rows are not asked in the context %r: every other test paper shares an author with theirs",
            config,
            lonely,
            count,
            OTHER,
        )
