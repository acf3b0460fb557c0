"""Checked reading of text and numbers that came from elsewhere."""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import date
from difflib import get_close_matches
from typing import Any, NoReturn

# What may be raised by using foreign data as something that it is not.
ODD = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
# As JSON spells it, or as bytes that UTF-8 does not allow.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(\[])")

# Private ones too, which show nothing without their own font.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff]")
# What begins a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

# Runs of them, so that mostly plain texts are folded fast. No ASCII character is a combining mark.
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
# What `str.isalnum` rejects.
_NO_LETTER = re.compile(r"[\W_]+")
_LETTERS = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}

MONTHS = tuple("january february march april may june july august september october november december".split())


def why(err: BaseException) -> str:
    """Return what is wrong with foreign data, from one of `ODD`."""
    return f"no key {err}" if isinstance(err, KeyError) else str(err)


def is_valid(text: str) -> bool:
    """Tell whether a text can be written as UTF-8."""
    return text.isascii() or valid(text) == text


def valid(text: str) -> str:
    """Return the text with lone surrogates replaced, which JSON can spell and no UTF-8 file can contain."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(data: bytes | str, *, unique: bool = False) -> Any:
    """Parse JSON as it is defined: no NaN or Infinity, no text with a lone surrogate, no nesting without end, no absurd numbers.

    Args:
        unique: whether a key that stands twice in an object is an error; else the last counts.

    Raises:
        ValueError: it is something else.
    """
    try:
        content = json.loads(
            data, parse_constant=_refuse, parse_float=_float, object_pairs_hook=_with_unique_keys if unique else None
        )
        if _SURROGATE.search(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")):
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError as err:
        raise ValueError("nested too deeply") from err
    return content


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r:.40} stands twice")
    return content


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def without_controls(text: str) -> str:
    """Return a text with a space in place of each control character, but for lines and tabs."""
    return _CONTROL.sub(" ", text)


def in_one_line(text: str) -> str:
    """Return a text in one line, as titles and names are: without control characters, with single spaces."""
    line = " ".join(text.split())
    # Most have none.
    return line if line.isprintable() else " ".join(without_controls(text).split())


def printable(text: str) -> str:
    """Return the text without what would move a terminal's cursor or change its colours; lines and tabs stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def guarded(cell: str) -> str:
    """Return the cell of a CSV file that a spreadsheet takes for a text, never for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def unguarded(cell: str) -> str:
    """Return what `guarded` was given."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell


def day(text: object) -> date:
    """Return a day written YYYY-MM-DD, of the years 1900 to 2999; a ValueError if it is something else, such as a week or a moment."""
    if not isinstance(text, str) or not re.fullmatch(r"(?:19|2\d)\d\d-\d\d-\d\d", text):
        raise ValueError(f"{text!r:.40} is not a day such as 2026-06-30")
    return date.fromisoformat(text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence for sentence in _SENTENCE.split(text.strip()) if sentence]


# --- texts compared by what they say


def fold(text: str) -> str:
    """Return lower-case a text and strip diacritics and repeated spaces."""
    return " ".join(without_marks(text).casefold().split())


def without_marks(text: str) -> str:
    """Return a text without diacritics."""
    if text.isascii():
        return text
    return _BEYOND_ASCII.sub(
        lambda match: "".join(c for c in match[0] if not unicodedata.combining(c)), unicodedata.normalize("NFKD", text)
    )


def title_key(title: str) -> str:
    """Return the key under which a title is filed: only its letters and digits count."""
    return title.translate(_LETTERS) if title.isascii() else _NO_LETTER.sub("", fold(title))


def with_subtitle(title: str, subtitle: str) -> str:
    """Return a title with its subtitle, behind a colon where the title does not end with a mark of its own; either may be ""."""
    mark = "" if title[-1:] in ":?!.–—-" else ":"
    return f"{title}{mark} {subtitle}" if title and subtitle else title


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most like a name that does not exist; None if none is alike by as much as the cutoff, from 0 to 1."""
    return next(iter(get_close_matches(name, list(known), 1, cutoff)), None)


def suggestion(name: str, known: Iterable[str], form: str = "{!r}", otherwise: str | None = None) -> str:
    """Return what may have been meant by a name that does not exist, for an error: the nearest one in some form, or all that exist, or
    otherwise another sentence.
    """
    names = list(dict.fromkeys(known))
    if near := nearest(name, names, 0.5):
        return f"did you mean {form.format(near)}?"
    return otherwise or f"there are {', '.join(map(form.format, names)) or 'none'}"
