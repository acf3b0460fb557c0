"""The lines of a reference list -> its entries, each with what it says of the cited work."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from builder.extract import reference_styles
from builder.extract.text import join_lines
from builder.ids import ARXIV_PATTERN, PaperId
from builder.records import Reference

if TYPE_CHECKING:
    from builder.extract.lines import Hyperlink, Line

_MIN_CHARS, _LEAST_OF_ENTRY = 8, 5
# Words behind the last entry that are no part of it.
_MOST_BEHIND = 60
# With this no entry begins in a list without labels.
_ADDRESS = re.compile(r"\s*(?:URL\b|https?:|doi\b|DOI\b|arXiv:|Available (?:at|from|online))")
# Characters at the end of a part that tell whether it goes on.
_NEAR = 80
_NUMBERED = (re.compile(r"\s*\[(\d{1,4})\]"), re.compile(r"\s*(\d{1,3})\.(?=\s|$)"), re.compile(r"\s*\((\d{1,3})\)"))
_LETTERED = re.compile(r"\s*\[([^\W\d_][^\[\]]{0,70}?\d{2,4}[a-z]?)\]")
# Archives whose ids of the older scheme are printed without arXiv's name.
_ARCHIVES = "astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nucl-(?:ex|th)|quant-ph"
_ARXIV = re.compile(
    rf"(?:arxiv(?:\.org)?\s*(?:preprint)?\s*(?:arxiv)?[:/\s]*(?:(?:abs|pdf|html)/)?|\babs/|\b(?=(?:{_ARCHIVES})/\d))"
    rf"({ARXIV_PATTERN})",
    re.IGNORECASE,
)
# What a line's end divides, and how it is put together again.
_DIVIDED = (
    (re.compile(r"\b(ar)-?\s*(?=Xiv\b)"), r"\1"),
    (re.compile(r"(/(?:abs|pdf|html)/)\s+(?=\d{4}\.|[a-z-]+/\d{7})"), r"\1"),
    # "2401. 12345", "2401.12- 345", "2401.1 2345"; since 2015 there are five digits: "2401.1234 5"
    (
        re.compile(
            r"((?i:(?<=arxiv)[:/\s]+|/(?:abs|pdf|html)/)(?:(?:1[5-9]|[2-9]\d)\d\d\.\d{4}(?=\s+\d(?![\d.]?\d))|\d{4}\."
            r"(?:(?=\s+\d{4,5}(?!\d))|\d{1,4}(?=-\s+\d{1,4}(?!\d))|\d{1,3}(?=\s+\d{1,4}(?!\d)))))-?\s+"
        ),
        r"\1",
    ),
    # "hep- th/9802150", "hepth/9802150"
    (re.compile(r"\b(astro|cond|gr|hep|math|nucl|quant)-?\s?(ph|mat|qc|ex|lat|th)/(?=\d{7})"), r"\1-\2/"),
    # "hep-th/ 9711200", "hep-ph/03010 01"
    (re.compile(rf"(\b(?:{_ARCHIVES})/)\s+(?=\d{{7}}\b)"), r"\1"),
    (re.compile(rf"(\b(?:{_ARCHIVES})/(?=\d+\s\d+\b)(?=(?:\d\s?){{7}}\b)\d+)\s"), r"\1"),
    # arXiv's own DOIs, and those of the Royal Society of Chemistry.
    (re.compile(r"(\b10\.48550/)\s*(arxiv\.\d{4}\.)\s*(?=\d{4,5}\b)", re.IGNORECASE), r"\1\2"),
    (re.compile(r"(\b10\.1039/[A-Z]\d[A-Z]{2})\s(?=\d{5}[A-Z]\b)"), r"\1"),
    # Behind the slash of a DOI, between its numbers, or before its last one.
    (re.compile(r"(\b10\.\d{4,9}/(?:\d{6,8}\.)?) (?=\d{6})"), r"\1"),
    (
        re.compile(
            r"(\b10\.\d{4,9}/[^\s\"<>]+\.) (?=\d+\.\d|(?<=[a-z]\. )(?:\d{1,5}[.\s]*(?:$|URL\b|https?:)|\d{7}\b))"
        ),
        r"\1",
    ),
)
# With the pages in angle brackets of a SICI.
_DOI = re.compile(r"\b10\.\d{4,9}/(?:[^\s\"<>]+<\d[^\s\"<>]*>)?[^\s\"<>]+[^\s\"<>.,;)\]]")
_BEHIND_DOI = re.compile(r"(?<=[\w)>])[.,;\[(]?(?:PubMed|Pubmed|Medline|Epub|(?:PMC?ID|PMC\d|https?:|pmc?id)).*")
_URL = re.compile(r"https?://[^\s\"<>]+[^\s\"<>.,;)\]]")
# The year alone, or a day in brackets (APA), or why there is none.
_MONTH, _OF_YEAR = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?", r"(?:19|20)\d{2}"
_DAY = (
    rf"(?:{_MONTH} (?:\d{{1,2}}, )?{_OF_YEAR}|\d{{1,2}} {_MONTH} {_OF_YEAR}|{_OF_YEAR}[-/]\d\d[-/]\d\d"
    rf"|{_OF_YEAR}[a-z]?(?:, {_MONTH}(?: \d{{1,2}})?)?)"
)
_DATE = rf"(?:\((?:n\.\s?d\.?|in press|forthcoming|to appear|{_OF_YEAR}[a-z]?, [^()]{{3,30}})\)|\(?{_DAY}\)?)"
_GLUED, _COMPANY = re.compile(r"(?<=[a-z])[A-Z]{1,3}$"), ("AI", "ML")
# Pages, but no "2015-03", and the day on which somebody looked.
_NOT_DATES = re.compile(
    r"(?:\bpp?\.?|\bpages?|:|,)\s?(?!(?:19|20)\d\d\s?[–-]\s?(?:0[1-9]|1[0-2])\b)\w?\d+\s?[–-]\s?\w?\d+"
    r"|(?<=\d)[;:]\s?\d+\s?[–-]\s?\d+|\[?\b(?:last )?(?:[Aa]ccessed|[Rr]etrieved|[Vv]isited)\b(?=[^.;\]]{0,24}\b20\d\d)[^.;\]]*"
)
_YEAR = re.compile(r"(?<![\d.:/<-])((?:1[6-9]|20)\d{2})[a-z]?(?![\d./]?\d)")
_QUOTED = (
    re.compile(r"“(.{8,300}?)[,.?!]\s*”(?=\s|,|\.|$)"),
    re.compile(r"[“\"‘]{1,2}([^”\"]{8,300}?)[,.?!]?\s*[”\"’]{1,2}(?=\s|,|\.|$)"),
)
_LONG_WORD = re.compile(r"\b(?!others\b|from\b)[a-z]{4,}\b")
# "Doe, J. and Roe, K. ebird: A title that begins small"
_SMALL_TITLE = re.compile(r"[^\W\d_]\.\s+(?=[a-z][\w-]{2,20}: [A-Z])")
_VENUE_WORDS = re.compile(
    r"^In\b|\b(?:[Jj]ournal|[Pp]roceedings|[Tt]ransactions|[Cc]onference|[Ww]orkshop|[Pp]ress)\b|\d"
)
# Words of a title, before a quotation within it; names have small particles.
_SMALL = r"(?!(?:and|with|others|van|von|den|der|dos|das|del|della|ter|ten|bin|ibn|les|zur|zum)\b)[a-z]{3,}\b"
_WORDS = re.compile(rf"(?<!\S){_SMALL}\W+(?:.*\s)?{_SMALL}")
_STOP = re.compile(r"(?<=[.?!])\s+(?=[^a-z\s])")
_INITIAL = re.compile(r"(?:^|[\s.\-])(?:[^\W\d_a-z]|Jr|Sr|vs|Pt|St|Dr|Th|Ch|Ph|Zh|Kh)\.$")
_GIVEN = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+|[A-Z](?:-?[A-Z])?")
_VENUE = re.compile(r"[.,]?\s*(?:\(?arXiv\b.*|CoRR\b.*|,\s*(?:19|20)\d{2}[a-z]?)$", re.IGNORECASE)
# "Doe, J. and Roe, K. Title": if surnames come first, initials without a comma after them end the authors.
_INVERTED = re.compile(r"(?![^,]*\b[^\W\d_]\.)[^,\d]{2,40},\s*[^\W\d_]\.")
_LAST_NAME = re.compile(r",\s*(?:[^\W\d_]\.[\s-]*)+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.|and\b|&|et al)")
_NAME_FIRST = re.compile(
    r"(?:[^\W\d_a-z][\w'’-]+,|(?:[^\W\d_a-z]\.[\s-]?)+[^\W\d_a-z]|[^\W\d_a-z][\w'’-]+ (?:[^\W\d_a-z]\. )?[^\W\d_a-z][\w'’-]+(?:,| and\b))"
)
_NAMES = re.compile(r"\bet al\b|\band\b|&|,\s*[A-Z]\.|\b[A-Z]\.\s")


def read_entries(
    lines: Sequence[Line], words: frozenset[str] = frozenset(), links: Sequence[Hyperlink] = ()
) -> list[Reference]:
    """Split the lines of a reference list into its entries, by their labels or, failing these, by their indent.

    Args:
        words: the paper's vocabulary, for words broken at line ends.
        links: the file's link annotations; an entry has those that lie on its lines.
    """
    labelled = _labelled_starts(lines)
    starts = labelled or [
        i for i in _hanging_starts(lines) or _spaced_starts(lines) if not _ADDRESS.match(lines[i].text)
    ]
    on_pages: dict[int, list[Hyperlink]] = defaultdict(list)
    for link in links:
        on_pages[link[0]].append(link)
    entries: list[Reference] = []
    # Where an entry began of which only the authors have been read.
    begun: int | None = None
    stop = _end_of_list(lines, starts, is_labelled=bool(labelled))
    for first, end in pairwise([*starts, stop]):
        part = lines[first if begun is None else begun : end]
        raw = " ".join(join_lines(part, words).split())
        if len(raw) <= _MIN_CHARS:
            continue
        near = [link for page in sorted({line.page for line in part}) for link in on_pages[page]]
        entry = parse_entry(raw, [link[2] for link in near if _lies_on(link, part)])
        is_open = not entry.title and (not entry.year or len(raw.split()) < _LEAST_OF_ENTRY)
        if is_open and end < stop and _goes_on(part[-1], lines[end]) and not labelled and begun is None:
            begun = first
        else:
            begun = None
            entries.append(entry)
    is_dated = any(entry.year for entry in entries)
    while is_dated and not labelled and not _says_what(entries[-1]):
        entries.pop()
    return entries


def _goes_on(line: Line, after: Line) -> bool:
    """Tell whether a line may end in the middle of an entry: before a new column or page, or one that begins with no name."""
    is_divided = after.page != line.page or after.y0 < line.y0
    return is_divided or _NAME_FIRST.match(after.text) is None


def _end_of_list(lines: Sequence[Line], starts: Sequence[int], *, is_labelled: bool) -> int:
    """Return where the last entry ends: at a paragraph after a full stop, if much text without labels follows, such as biographies."""
    if not starts:
        return len(lines)
    rest, end = 0, len(lines)
    for i in range(len(lines) - 1, starts[-1], -1):
        if is_labelled and any(pattern.match(lines[i].text) for pattern in _NUMBERED):
            return end
        rest += len(lines[i].text.split())
        if lines[i].start and rest > _MOST_BEHIND and lines[i - 1].text.endswith("."):
            end = i
    return end


def _says_what(entry: Reference) -> bool:
    """Tell whether an entry names a year, an identifier, an address, or authors and a title; what is behind a list does not."""
    return bool(entry.year or entry.arxiv_id or entry.doi or entry.url or (entry.title and entry.authors))


def _lies_on(link: Hyperlink, lines: Sequence[Line]) -> bool:
    page, (x0, y0, x1, y1), _ = link
    return any(
        page == line.page and y0 < (line.y0 + line.y1) / 2 < y1 and x0 < line.x1 and x1 > line.x0 for line in lines
    )


def _labelled_starts(lines: Sequence[Line]) -> list[int]:
    """Return the lines that begin with the next number of one labelling, or with a letter label."""
    best: list[int] = []
    for pattern in _NUMBERED:
        starts: list[int] = []
        expected = 1
        for i, line in enumerate(lines):
            if (match := pattern.match(line.text)) and expected <= int(match[1]) <= expected + 2:
                starts.append(i)
                expected = int(match[1]) + 1
        best = max(best, starts, key=len)
    best = max(best, [i for i, line in enumerate(lines) if _LETTERED.match(line.text)], key=len)
    return best if len(best) >= 3 else []


def _hanging_starts(lines: Sequence[Line]) -> list[int]:
    """Return the lines at the left edge of their column, if continuation lines are indented."""
    starts: list[int] = []
    for column in _columns(lines):
        left = min(lines[i].x0 for i in column)
        starts += [i for i in column if lines[i].x0 < left + 3]
    return sorted(starts) if len(starts) >= 3 and len(starts) / len(lines) < 0.7 else []


def _spaced_starts(lines: Sequence[Line]) -> list[int]:
    """Return the lines that begin a new block, or follow a short line, after a full stop."""
    right = {i: max(lines[k].x1 for k in column) for column in _columns(lines) for i in column}
    steps = [line.y0 - before.y0 for before, line in pairwise(lines) if 0 < line.y0 - before.y0 < 3 * line.size]
    usual = median(steps) if steps else 0.0
    starts = [0] if lines else []
    for i in range(1, len(lines)):
        line, before = lines[i], lines[i - 1]
        short = before.x1 < right[i - 1] - 3 * line.size
        # AAAI's entries stand a quarter of a line further apart than their lines.
        is_lower = line.page == before.page and line.y0 - before.y0 > usual + 0.12 * line.size
        apart = line.start or line.y0 - before.y1 > 0.35 * line.size or short or is_lower
        if apart and before.text.rstrip().endswith((".", ")", "/")):
            starts.append(i)
    return starts


def _columns(lines: Sequence[Line]) -> list[list[int]]:
    """Return the lines of each column of each page, by index."""
    middle = (min((line.x0 for line in lines), default=0) + max((line.x1 for line in lines), default=0)) / 2
    columns: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        columns[line.page, line.x0 > middle - 20].append(i)
    return list(columns.values())


def parse_entry(raw: str, links: Sequence[str] = ()) -> Reference:
    """Read one entry of a reference list, and then the addresses that it links to; what it does not say stays empty."""
    label, rest = _take_label(raw)
    plain = _URL.sub(" ", rest)
    pieces = segments(plain)
    # Most entries name one year.
    dated = segments(_NOT_DATES.sub(" ", plain)) if len(_YEAR.findall(plain)) > 1 else pieces
    if quoted := _quoted(plain):
        names, title = plain[: quoted.start()], quoted[1]
    else:
        names, title = reference_styles.parts_of(plain) or ("".join(pieces[:1]), _title_of(pieces))
    title = _VENUE.sub("", title).strip(" ,.")
    entry = Reference(
        raw=raw,
        label=label,
        authors=_authors(names),
        year=_year(dated) or _year(pieces),
        title=title if quoted else reference_styles.checked_title(title, plain),
    )
    return with_ids(entry, " ".join([rest, *links]))


def _quoted(plain: str) -> re.Match[str] | None:
    """Return the title in quotes behind the authors."""
    for pattern in _QUOTED:
        if match := pattern.search(plain):
            before = plain[: match.start()].rstrip()
            if not before or (not _WORDS.search(before) and before[-1] in ".,:;)"):
                return match
    return None


def with_ids(entry: Reference, said: str) -> Reference:
    """Return an entry with the first arXiv id, DOI and address in what it says and links to."""
    for pattern, whole in _DIVIDED:
        said = pattern.sub(whole, said)
    arxiv = _ARXIV.search(said)
    parsed = PaperId.parse(arxiv[1]) if arxiv else None
    # A line's end cuts some; the link behind them does not.
    dois = _DOI.findall(said)
    doi = next((found for found in dois if not found.endswith("-")), None)
    address = _URL.search(said)
    url = address[0] if address else None
    return replace(
        entry,
        arxiv_id=parsed.bare if parsed else None,
        doi=_BEHIND_DOI.sub("", doi) if doi else None,
        url=url,
    )


def _year(pieces: Sequence[str]) -> int | None:
    """Return the year directly after the authors, else the last one named."""
    if len(pieces) > 1 and (match := _YEAR.match(pieces[1].lstrip("( "))):
        return int(match.group(1))
    years = _YEAR.findall(" ".join(pieces))
    return int(years[-1]) if years else None


def _take_label(raw: str) -> tuple[str, str]:
    for pattern in (*_NUMBERED[:1], _LETTERED, *_NUMBERED[1:]):
        if match := pattern.match(raw):
            return match[1], raw[match.end() :].strip()
    return "", raw


def segments(text: str) -> list[str]:
    """Split an entry at its full stops, those of initials and abbreviations excepted."""
    inverted = _INVERTED.match(text) is not None
    out: list[str] = []
    for piece in _STOP.split(text):
        if (
            out
            and _INITIAL.search(out[-1][-_NEAR:])
            and not (inverted and _LAST_NAME.search(out[-1][-_NEAR:]) and not _INITIALS.match(piece))
        ):
            out[-1] += " " + piece
        else:
            out.append(piece)
    return [piece.strip() for piece in out if piece.strip()]


def _title_of(pieces: Sequence[str]) -> str:
    """Return the segment after the authors and, if it comes second, the year."""
    if not pieces:
        return ""
    head = pieces[0]
    before = head.split(": ")[0]
    if ": " in head and _NAMES.search(before) and not _LONG_WORD.search(before):
        # "Doe, J., Roe, R.: The title." of Springer's style.
        return _with_answer(head.split(": ", 1)[1], pieces[1:])
    if small := _SMALL_TITLE.search(head):
        return head[small.end() :].strip(" .")
    dated = re.search(r"\(\s*(?:19|20)\d{2}[a-z]?(?:, [^()]{3,30})?\s*\)[.,:]?\s+(?=\S)", head)
    if dated and len(head) - dated.end() > 10:
        return _with_answer(head[dated.end() :], pieces[1:])
    for i, piece in enumerate(pieces[1:], 1):
        if not re.fullmatch(_DATE + r"\.?", piece):
            return _with_answer(re.sub(rf"^{_DATE}[.,:]\s*", "", piece), pieces[i + 1 :])
    return ""


def _with_answer(title: str, behind: Sequence[str]) -> str:
    """Return a title, with what answers its question: "What is it? An answer in some words", which a journal's name has not."""
    title, answer = title.strip(" ."), "".join(behind[:1])
    is_answer = len(_LONG_WORD.findall(answer)) > 1 and not _VENUE_WORDS.search(answer)
    return f"{title} {answer.strip(' .')}" if title.endswith(("?", "!")) and is_answer else title


def _authors(text: str) -> tuple[str, ...]:
    """Return surnames, in order, from the text before the title."""
    text = re.sub(r"\(?\b(?:19|20)\d{2}[a-z]?\)?.*$", "", text.split(": ")[0])
    text = re.sub(r"\bet al\.?|\beds?\.?\b", "", text).strip()
    names: list[str] = []
    for piece in re.split(r",|;|\band\b|&", re.sub(r"(?<=[^\W\d_]{2})\.$", "", text)):
        bare = re.sub(r"\b[^\W\d_]\.(?=[^\W\d_])", "", piece)
        bare = " ".join(word for word in bare.split() if not _GIVEN.fullmatch(word)).strip(" .")
        if len(bare) > 1 and not any(c.isdigit() for c in bare):
            names.append(bare.split()[-1])
    # "DoeJA"; among names that are not glued, "OpenAI" is a company.
    is_glued = sum(map(bool, map(_GLUED.search, names))) > 2
    return tuple(name if name.endswith(_COMPANY) and not is_glued else _GLUED.sub("", name) for name in names[:20])
