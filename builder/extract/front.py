"""What a PDF's first page says of the paper itself: its authors, day, category and DOI.

Publishers print these in hundreds of ways, so names are believed only where they look like names and stand where authors
stand; a page that is not understood names nobody. A wrong author would tie a paper to strangers.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from builder.extract.lines import Line, Word
from builder.extract.text import clean, join_lines
from builder.ids import PaperId
from builder.records import Front
from lm_eval_tasks.base.text import day, with_subtitle

_STAMP = re.compile(r"arXiv:\S+\s+(?:\[(?P<category>[\w.-]+)\]\s+)?(?P<day>\d{1,2} [A-Z][a-z]{2} \d{4})")
_DOI = re.compile(r"\b10\.\d{4,9}/[-._;()/:a-zA-Z0-9]+")
# Exponents, numbers and whatever else is no part of a name: they say where somebody works.
_MARKS = re.compile(r"\^\S+|\([^()]*\)|(?:[^\w\s.'’-]|[\d_])+")
# TeX's older fonts print an accent as a character of its own, before the letter.
_ACCENT = re.compile("([´`¨ˆ˜ˇ˘˚])\\s?([A-Za-zı])")
_COMBINING = dict(zip("´`¨ˆ˜ˇ˘˚", "\u0301\u0300\u0308\u0302\u0303\u030c\u0306\u030a", strict=True))
# A postal code, or an address.
_ADDRESS = re.compile(r"@|\d{4}|\b[A-Z]{2} \d|://")
_BETWEEN = re.compile(r"[,;|&·•]|\s+and\s+|^(?:and|by)\s+", re.IGNORECASE)
_NAME_WORD = r"(?:[^\W\d_a-z][\w'’-]*\.?|(?:[^\W\d_]\.)+(?:-[^\W\d_]\.)?)"
_PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|bin|ibn|al|el|ter|ten|zu|zur|y)"
_NAME = re.compile(
    rf"{_NAME_WORD}(?:[ -](?:{_NAME_WORD}|{_PARTICLE})){{0,3}} (?:{_NAME_WORD}|[^\W\d_a-z][\w'’-]+)(?:,? (?:Jr|Sr)\.?)?"
)
_NO_NAME = re.compile(
    r"\b(?:universi|institu|department|laborator|school|college|facult|cent(?:er|re)\b|research|academy|hospital|compan|group\b"
    r"|inc\b|ltd\b|corp\b|llc\b|gmbh\b|google|microsoft|facebook|deepmind|openai|amazon|ibm\b|nvidia|baidu|tencent|alibaba|huawei"
    r"|abstract|members?\b|fellow|ieee|student|senior|professor|correspond|equal|contribut|authors?\b|published|conference|journal"
    r"|proceedings|preprint|review|articles?\b|version|street|road\b|avenue|china\b|usa\b|germany|france\b|italy|japan|india\b|canada"
    r"|australia|singapore|kingdom|states\b|republic|california|york\b|city\b|technolog|science|engineering|systems?\b|team\b|lab\b"
    r"|introduction|key ?words|draft|e-?mail|(?-i:the|of|for|with|in|on)\b|security|software|learning|information|computer"
    r"|overflow|survey|acm\b|index terms|collaboration|additional|national|international|state key|digital|data\b)",
    re.IGNORECASE,
)
# A blank that parts two names, in parts of the type's size.
_WIDE = 0.75
_MOST_LINES = 60
# What stands above a title in large type, and the line that ends the head of a journal's page.
_NO_TITLE = re.compile(
    r"(?:graphical abstract|highlights|(?:original |research |review )?(?:article|paper|letter)|review|draft version\b.*"
    r"|contents lists .*)\W*",
    re.IGNORECASE,
)
_JOURNAL = re.compile(r"\W*journal homepage", re.IGNORECASE)
# What a title cannot end with, what a line below it has that is its second half, and what only an affiliation has.
_OPEN = re.compile(
    r"(?:-|[:&]|\b(?:of|the|an?|for|in|on|with|from|by|to|and|or|via|using|between|through|under|towards?))$",
    re.IGNORECASE,
)
_SUBTITLE = re.compile(r"(?<!\S)(?:of|the|for|in|on|with|from|by|to|towards?)\s", re.IGNORECASE)
PLACE = re.compile(
    r"@|\b(?:universi|institut|department|laborator|school|college|facult|cent(?:er|re)\b|academy|hospital)",
    re.IGNORECASE,
)
_NO_SUBTITLE = re.compile(
    r"(?:by|accepted|submitted|published|presented|to appear|for the degree|in partial|a (?:thesis|dissertation)|technical report"
    r"|draft|version)\b"
    r"|.*\bcollaborations?\W*$",
    re.IGNORECASE,
)
# Type of one size, and larger than another, in points; from one line of a title to the next at most, in sizes of type.
_ONE_SIZE, _LARGER, _TITLE_STEP = 0.6, 0.7, 2.2


def title_of(front: Sequence[Line], size: float) -> str:
    """Return the title: the largest lines at the top of the first page, and what continues them.

    Where nothing is larger than the body, set in `size` points, it is the first line in capitals; "" if there is none.
    """
    page = [line for line in front if line.page == 0 and len(clean(line.text)) > 1]
    # What stands above the end of a journal's head is not the paper's.
    head = max((line.y0 for line in page if _JOURNAL.match(line.text)), default=-1.0)
    top = [line for line in page if line.y0 > head and not _NO_TITLE.fullmatch(clean(line.text))]
    largest = max((line.size for line in top if len(line.text) > 3), default=0.0)
    if largest > size + _LARGER:
        first = next(i for i, line in enumerate(top) if line.size > largest - _ONE_SIZE and len(line.text) > 3)
    else:
        capitals = (i for i, line in enumerate(top) if line.text.isupper() and " " in line.text)
        first = next((i for i in capitals if top[i].size > size - _ONE_SIZE), len(top))
    # Small capitals are as large as most of their letters.
    is_capitals = 0 < first < len(top) and top[first].small_caps and top[first - 1].size > size + _LARGER
    start = first - 1 if is_capitals and _is_below(top[first - 1], top[first]) else first
    title, subtitle = top[start : first + 1], list[Line]()
    for i in range(first + 1, len(top)):
        last = [*title, *subtitle][-1]
        if not _is_below(last, top[i]):
            break
        if _continues(last, top[i], size):
            (subtitle or title).append(top[i])
        elif not subtitle and _is_subtitle(top[i], top[i + 1 : i + 2], size):
            subtitle.append(top[i])
        else:
            break
    return with_subtitle(*(join_lines(lines).replace("\n", " ") for lines in (title, subtitle)))


def _is_below(line: Line, after: Line) -> bool:
    return 0 < after.y0 - line.y0 < _TITLE_STEP * max(line.size, after.size)


def _continues(last: Line, line: Line, size: float) -> bool:
    """Tell whether a line goes on with the title line above it: set alike, or after an unfinished sentence."""
    if _is_alike(line, last):
        return line.size > size + _LARGER or line.text.isupper()
    return line.size > size + _LARGER and bool(_OPEN.search(clean(last.text)))


def _is_subtitle(line: Line, after: Sequence[Line], size: float) -> bool:
    """Tell whether a line below a title is a subtitle: larger than the body, set off from what follows, no place of work."""
    is_set_off = not after or after[0].size < line.size or _is_alike(after[0], line)
    is_other = PLACE.search(line.text) or _NO_SUBTITLE.match(line.text)
    is_worded = bool(_SUBTITLE.search(line.text)) and not is_other
    return is_worded and is_set_off and line.size > size + _LARGER


def _is_alike(line: Line, other: Line) -> bool:
    return abs(line.size - other.size) < _ONE_SIZE and line.bold == other.bold


def front_of(words: Sequence[Word], info: Mapping[str, Any], stamp: str, before: Sequence[Line], title: str) -> Front:
    """Read the front of a paper from the lines before the first heading.

    Args:
        words: of the first page.
        info: the file's own description, as MuPDF gives it.
        stamp: the line in arXiv's margin; "" if there is none.
    """
    text = "\n".join(line.text for line in before[:_MOST_LINES])
    printed = _authors(words, before, title)
    listed = tuple(name for name in _pieces(info.get("author") or "") if _is_name(name))
    # What the file says of itself may be of another paper or of a drawing in it: it counts where the page has it too.
    confirmed = listed if all(_key(name) in _key(text) for name in listed) else ()
    front = Front(authors=max(printed, confirmed, key=len), doi=_doi(f"{info.get('subject') or ''} {text}"))
    marked = _STAMP.search(stamp)
    if marked:
        return replace(front, category=marked["category"] or "", day=_iso(marked["day"]), day_from="stamp")
    made = re.match(r"D:(\d{4})(\d\d)(\d\d)", info.get("creationDate") or "")
    return replace(front, day=_made_on(*made.groups()), day_from="file") if made else front


def _made_on(year: str, month: str, of_month: str) -> str:
    """Return the day when a file was made; "" for one that there is not, such as 2015-00-00."""
    with suppress(ValueError):
        return day(f"{year}-{month}-{of_month}").isoformat()
    return ""


def _doi(text: str) -> str:
    """Find the first DOI in a text; "" if it has none that is valid."""
    found = _DOI.search(text)
    parsed = PaperId.parse(found[0].rstrip(".,;)")) if found else None
    return parsed.bare if parsed and parsed.kind == "doi" else ""


def _iso(text: str) -> str:
    try:
        return datetime.strptime(f"{text} +0000", "%d %b %Y %z").date().isoformat()
    except ValueError:
        return ""


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _authors(words: Sequence[Word], before: Sequence[Line], title: str) -> tuple[str, ...]:
    """Return the names in the lines below the title that are set like the first name there."""
    key = _key(title)
    is_title = [line.page == 0 and len(_key(line.text)) > 3 and _key(line.text) in key for line in before]
    if True not in is_title:
        return ()
    # The words of a title occur again, as key words.
    end = next((i for i in range(is_title.index(True), len(before)) if not is_title[i]), len(before))
    last = before[end - 1]
    below = [line for line in before[end:] if line.page == 0 and (line.size, line.bold) != (last.size, last.bold)]
    stop = next((i for i, line in enumerate(below) if re.match(r"\W*abstract\b", line.text, re.IGNORECASE)), len(below))
    style: tuple[float, bool] | None = None
    names: list[str] = []
    for line in sorted(below[:stop], key=lambda line: (round(line.y0 / 4), line.x0)):
        for text in _split(words, line):
            pieces = _pieces(text)
            if not _ADDRESS.search(text) and not any(map(_NO_NAME.search, pieces)):
                there = [name for name in pieces if _is_name(name) and _key(name) not in key]
                style = style or ((line.size, line.bold) if there else None)
                names += there if style == (line.size, line.bold) else []
    return tuple(dict.fromkeys(names))


def _split(page: Sequence[Word], line: Line) -> Iterator[str]:
    """Yield the parts of a line between wide blanks, which it was joined over."""
    words = [word for word in page if line.x0 - 1 < word[0] < line.x1 and line.y0 < (word[1] + word[3]) / 2 < line.y1]
    gaps = [after[0] - word[2] > _WIDE * line.size for word, after in pairwise(words)]
    if "," in line.text or not any(gaps):
        yield line.text
        return
    pieces = [[words[0][4]]]
    for word, is_wide in zip(words[1:], gaps, strict=True):
        if is_wide:
            pieces.append([])
        pieces[-1].append(word[4])
    yield from (clean(" ".join(piece)) for piece in pieces)


def _pieces(text: str) -> list[str]:
    """Return what stands between the commas and marks of a list of names."""
    whole = _ACCENT.sub(lambda match: unicodedata.normalize("NFC", match[2] + _COMBINING[match[1]]), clean(text))
    pieces = (word for piece in _BETWEEN.split(whole) for word in _MARKS.sub("\0", piece).split("\0"))
    # Elsevier's marks of affiliations are letters.
    plain = (re.sub(r"(?:\s[a-z])+$", "", word.strip(" .:")) for word in pieces)
    return [" ".join(map(_cased, word.split())) for word in plain if word]


def _is_name(piece: str) -> bool:
    return bool(_NAME.fullmatch(piece)) and not _NO_NAME.search(piece)


def _cased(word: str) -> str:
    return word.capitalize() if len(word) > 1 and word.isupper() and word.isalpha() else word
