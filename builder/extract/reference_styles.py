"""Entries of reference lists in styles whose marks do not part authors, title and journal: Vancouver, and those of physics and chemistry.

No title is better than a wrong one: where a style prints none, or nothing tells it from a journal, there is none.
"""

import re

_PARTICLES = r"(?:(?:[Vv]an|[Vv]on|[Dd]e[rnl]?|[Dd][aiou]s?|[Ll][ae]|[Tt]er?|[Aa]l|[Ee]l|[Bb]in|[Ss]t\.?|[Mm]c|y|e|zu[rm]?)[\s-]+){0,3}"
_SURNAME = rf"{_PARTICLES}[^\W\d_][\w'’-]*(?:\s[^\W\d_a-z][\w'’-]+)?"
_ET_AL = r"(?:,?\s+(?:and\s+)?(?:et\.? al\.{0,2}|others))?"
_YEAR = r"(?:1[6-9]|20)\d{2}[a-z]?"
# "Berg AB, van der Holm C, et al"
_UNDOTTED = rf"(?>{_SURNAME} [A-Z](?:-?[A-Z]){{0,3}}(?: (?:Jr|Sr|2nd|3rd|I{{2,3}}))?)"
_VANCOUVER = re.compile(
    rf"(?P<names>{_UNDOTTED}(?P<more>(?:(?:, (?:and |& )?| and | & ){_UNDOTTED})*)(?P<others>{_ET_AL}))(?:,? editors?)?"
    rf"(?:[.:]\s+(?:\(?{_YEAR}\)?[.;:]\s+)?|,?\s+\(?{_YEAR}\)?[.,:]?\s+)(?P<rest>.+)",
    re.DOTALL,
)
_YEAR_FIRST = re.compile(rf"{_YEAR}(?: [A-Z][a-z]{{2,8}}(?: \d+)?)?\s*[;,]\s*\d")
# "A. B. Berg, C. von Holm and D. Li, "
_INITIALS = r"[^\W\d_a-z][a-z]?\.(?:[\s-]?[^\W\d_a-z][a-z]?\.){0,3}"
_DOTTED = rf"(?>{_INITIALS}\s?{_SURNAME}(?:,? (?:Jr|Sr)\.)?)"
_PHYSICS = re.compile(
    rf"(?P<names>{_DOTTED}(?:, {_DOTTED})*(?:,? (?:and|&) {_DOTTED})?{_ET_AL}),\s+(?!and\b|&|{_INITIALS})(?P<rest>[^“\"‘].*)",
    re.DOTALL,
)
_VOLUME = r"(?:[A-Z]\s?)?\d{1,5}[A-Z]?"
_PAGES = rf"(?:\s*\({_YEAR}\)|,\s*[\w–-]+\s*\({_YEAR}\)|\s*\([\w/–-]+\))"
_JOURNAL_BEHIND = re.compile(
    rf"(?:(?P<title>.+), )?(?P<journal>[^,\d](?:[^,(]|\([^()]*\)){{1,90}}?),? (?:[Vv]ol\. ?)?{_VOLUME}{_PAGES}.*",
    re.DOTALL,
)
# "Berg, A. B.; Holm, C. J. Fish 2011, 12, 34": nothing but a journal behind the names.
_INVERTED = rf"(?>{_SURNAME},? {_INITIALS})"
_CHEMISTRY = re.compile(
    rf"(?P<names>{_INVERTED}\s*(?:(?:;|,|,? &|,? and)\s*{_INVERTED}\s*)*{_ET_AL})[,.]?\s*(?P<rest>.+)", re.DOTALL
)
_NO_TITLE = re.compile(
    rf"{_YEAR}, [^,]{{1,80}}, (?:{_VOLUME}|in press|submitted|arXiv)\b.*|(?P<journal>[^\d;]{{2,90}}?),? {_YEAR}, {_VOLUME}\b.*"
)
_SMALL = frozenset("of the and in for on to a an & de la der und et".split())
_TITLE_END = re.compile(
    r"(?<![\s(-][^\W\d_a-z])(?<!\bvs)(?<!\bsp)(?<!\bcf)(?<!\bspp)(?<!\bvar)(?<!\bal)[.?!](?:\s*\[[^\[\]]*\]\.?)?\s+(?=[^a-z\s])"
)
# What is no title: an edition, editors, a volume of a series; a journal, if its volume follows.
_NO_TITLE_WORDS = re.compile(
    r"\d+(?:st|nd|rd|th)? ed(?:\b|ition)|[Ii]n(?::| Proc| Adv|  ?[A-Z]{3,})|in [A-Z]|eds?\b|pp?\.? ?\d|.*\beditors?$"
    r"|[Vv]ol(?:ume)?\.? ?\d|[\d\W]+$|\d+, [A-Z]?\d"
)
_VOLUME_FOLLOWS = re.compile(
    rf"[.,]?\s*(?:{_YEAR}(?: [A-Z][a-z]{{2,8}}\.?(?: \d+)?)?\s*[;,]\s*{_VOLUME}|{_VOLUME}\s*(?:\(\w+\)\s*)?[:;]|{_VOLUME},\s*\w?\d+)"
)

_VOLUME_BEHIND = re.compile(
    rf"[.,]?\s+(?:{_YEAR}(?: [A-Z][a-z]{{2,8}}\.?(?: \d+)?)?\s*[;,]|{_VOLUME}\s*(?:\([\w–-]+\))?\s*[:,]\s*\w?\d)"
)
_VOLUME_WITHIN = re.compile(
    rf"\b{_YEAR}, {_VOLUME}\b|[\s,]{_VOLUME}\s?(?:\(\w+\))?(?::\s?|,\s|,? pp?\.? ?)\w?\d+(?:[–-]\s?\w?\d+|,? ?\(|$)|\bvol\. \d"
)
_CAPITAL_END = re.compile(r"(?P<title>.*[a-z]{3,} [A-Z])\.\s+(?=[A-Z])", re.DOTALL)
_LONGEST_TITLE = 250
# Small words that a journal's name has less of.
_LONG_WORD, _LEAST_WORDS = re.compile(r"\b[a-z]{4,}\b"), 2
_ABBREVIATED = re.compile(r"(?:[^\W\d_a-z][\w-]{0,6}\.?\s*){1,4}")


def parts_of(entry: str) -> tuple[str, str] | None:
    """Return an entry's text with the authors, and its title, "" if it prints none; None if it is in none of these styles."""
    if (match := _VANCOUVER.match(entry)) and (
        match["more"]
        or match["others"]
        or (_YEAR_FIRST.search(match["rest"]) and not re.match(r"[A-Z][\w'’-]+, [A-Z]", match["rest"]))
    ):
        return match["names"], re.sub(r"\s*\[[^\[\]]*\]\s*$", "", _before_journal(match["rest"]))
    if match := _PHYSICS.match(entry):
        behind = _JOURNAL_BEHIND.fullmatch(match["rest"])
        return (match["names"], behind["title"] or "") if behind else None
    match = _CHEMISTRY.match(entry)
    behind = _NO_TITLE.fullmatch(match["rest"]) if match else None
    words = (behind["journal"] or "").split() if behind else ()
    is_journal = all(word in _SMALL or not word[:1].islower() for word in words)
    return (match["names"], "") if match and behind and is_journal else None


def _before_journal(rest: str) -> str:
    """Return the title, which goes on to the last sentence before the volume; that is the journal, with its abbreviations."""
    volume = _VOLUME_BEHIND.search(rest)
    ends = list(_TITLE_END.finditer(rest[: volume.start() + 2] if volume else rest))
    if not ends:
        # A book ends the entry; a title may end with one capital.
        whole = _CAPITAL_END.search(rest[: volume.start() + 2]) if volume else None
        return (
            rest[: whole.end("title")] if whole else "" if volume or len(rest) > _LONGEST_TITLE else rest.rstrip(" .")
        )
    last = len(ends) - 1 if volume else 0
    while last and _ABBREVIATED.fullmatch(rest[ends[last - 1].end() : ends[last].start()]):
        last -= 1
    return rest[: ends[last].start()]


def checked_title(title: str, entry: str) -> str:
    """Return the title, "" if it is none: an edition, or a journal, whose volume follows it in the entry or stands in it."""
    at = entry.find(title)
    is_volume_next = at >= 0 and _VOLUME_FOLLOWS.match(entry[at + len(title) :])
    return "" if _NO_TITLE_WORDS.match(title) or _VOLUME_WITHIN.search(title) or is_volume_next else title
