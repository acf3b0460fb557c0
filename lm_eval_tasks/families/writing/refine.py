"""From an answer to the text in it, without what surrounds it.

Section 4.2 of the AcademicEval paper refines the answers of Title Writing only.
"""

import json
import re

_YES = r"(?:sure|certainly|of course|okay|ok|absolutely|yes|great)"
_HERE = (
    r"here(?:'s|’s| is| are)|below is|this is|i(?: would|['’]d)? (?:suggest|propose|recommend)|my suggestion\b|how about\b|"
    r"the following\b|based on\b"
)
_NAMES = r"(?:titles?|suggestions?)"
_ABOUT = rf"[^:\n]{{0,80}}\b{_NAMES}\b[^:\n]{{0,60}}"
_QUOTE, _ENDQUOTE = '["“]', '["”]'
# "Sure! ..." and "Here is the title: ..." lead in; "Okay Google: ..." and "This Is Not a Dataset: ..." are titles.
_NAMING = rf"(?:[^:\n\"“]*\b{_NAMES}\b[^:\n\"“]*|(?<=here is)\s*|(?<=here's)\s*)"
_LEAD_IN = re.compile(
    rf"^[*_]*(?:{_YES}!\s*(?=$|{_QUOTE}|\*)|(?:{_YES}\b[,.:!]?\s*)?(?:{_HERE})(?=[^:\n]{{0,120}}:){_NAMING}:[*_]*\s*)",
    re.IGNORECASE,
)
# "Title:", "A fitting title for this paper could be:", "Final answer:", "Option 1:".
_LABEL = re.compile(
    r"^[*_]*(?:(?:(?:the|an?|my|one|most|more|very|suggested|proposed|suitable|appropriate|fitting|good|better|possible|potential|concise|"
    r"informative|and|generated|predicted|final|new|(?:research )?paper|article|target content)\s+)*title"
    r"(?:\s+(?:of|for) (?:the|this|your|an?)(?: [\w-]+){1,3})?(?:\s+(?:is|(?:c|w|sh)ould be|might be|may be))?\s{0,4}"
    r"|(?:target|reference) (?:output|title)"
    r"|(?:final )?(?:answer|output|response)(?=:?\*|\s{0,4}:\s{0,4}[\"“]))[*_]{0,4}\s{0,4}(?::|=|\s[-–—]\s)[*_]*\s*",
    re.IGNORECASE,
)
# The title is "...". How about "..."? "..." would be a good title. "..." - This title says much.
_SAID = re.compile(
    rf"^(?:[^\"“]{{0,200}}\btitle\b[^\"“:]{{0,80}}|how about |)(?P<quoted>{_QUOTE}[^\"“”]{{3,}}{_ENDQUOTE}|\*\*[^*]{{3,}}\*\*(?!$))[.?!]?"
    r"(?P<behind>$|\s+(?:[-–—]\s+)?(?:this|it|which|is an?|would|could|might|captures|reflects)\b"
    r".*\b(?:title|paper|abstract|work|content)\b.*$)",
    re.IGNORECASE,
)
_AROUND = " \t" + "*_~`\"'“”‘’«»"
# A heading, a quotation, an item of a list; a line that begins or ends code.
_LINE_MARK = re.compile(rf"(?:#{{1,6}}\s+|>\s+(?!\d)|[-*]\s+|\d\.\s+(?={_QUOTE}|\*\*)|```\w*$)")
_ITEM = re.compile(r"(?:1[.)]|Option 1:)\s+")
_JSON = r"\{(?:[^{}]*,)?\s*\"(?:\w+[ _])?title\":\s*(?P<json>\"(?:[^\"\\\n]|\\.)*\")\s*(?:,[^{}]*)?\}"
# What markup and chat templates put around a text.
_TAGGED = re.compile(
    rf"^(?:<(title|b|i|h1|strong|em)>(?P<html>.*)</\1>|\\title\{{(?P<tex>.*)\}}|{_JSON}|"
    r"\[(?P<brackets>[^\[\]]*)\])$",
    re.IGNORECASE,
)
# The same over several lines.
_WHOLE = re.compile(
    rf"(?:```\w*\s*)?(?:<(title|answer|output)>\s*(?P<html>[^<\n]+?)\s*</\1>|{_JSON})(?:\s*```)?", re.IGNORECASE
)
# What a line that only leads in says: as a heading, before a colon, or in a sentence.
_HEADINGS = ("output", "response", "target output")
_TALK = re.compile(rf"\b(?:{_HERE}|{_NAMES}|{_YES})", re.IGNORECASE)
# "This Is a Title Generation Benchmark" is a title: only what begins with "here" needs no stop.
_SENTENCE = re.compile(
    rf"{_YES}[.!]?|(?:{_YES}\b[,.!]?\s*)?(?:here (?:you go|you are|it is)[.!:]?|here(?:'s|’s| is| are)\b{_ABOUT}"
    rf"|(?:{_HERE}|i(?: have|['’]ve)? (?:written|generated|chosen)\b){_ABOUT}(?:[.!]|\bis))",
    re.IGNORECASE,
)
_END = re.compile(r"(?:</s>|<\|[\w ]{2,20}\|>|<end_of_turn>|<eos>|\[/INST\])$")
_ANOTHER = re.compile(r" \(alternative(?:ly)?\b[:,][^()]*\)$", re.IGNORECASE)
# What surrounds a title is taken off in at most this many steps.
_STEPS = 20
_QUOTES = '"“‘«'
_PAIRS = {"*": "*", "_": "_", "~": "~", "`": "`'", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}


def title(text: str, target: str = "") -> str:
    """Return the title in an answer: without lead-in, label, markdown and quotes around it, and nothing after its line.

    Args:
        target: the paper's own title; what belongs to it is not taken off.
    """
    rest = text.strip()
    if (whole := _WHOLE.fullmatch(rest)) and _casefold(rest) != _casefold(target):
        rest = whole["html"] or _unescaped(whole["json"])
    while True:
        line, _, below = rest.partition("\n")
        below = below.strip()
        if below.startswith(("2.", "2)", "Option 2")) and (item := _ITEM.match(line)):
            line = line[item.end() :]
        line_title = _unwrap_line(line, _casefold(target))
        if not below or not _leads_in(line_title, _casefold(target)):
            return line_title
        rest = below


def _leads_in(line: str, target: str) -> bool:
    """Tell whether the title stands below a line: an empty one, a heading, a sentence about titles, or one that ends with a colon."""
    words = line.strip("#: ")
    label = _LABEL.match(f"{words}:")
    is_heading = words.casefold() in _HEADINGS or (label is not None and label.end() > len(words))
    is_led = line.endswith(":") and line.count(":") == 1 and _TALK.search(line) is not None
    is_own = bool(target) and _casefold(line) == target
    return not line.strip("-=*_ ") or (not is_own and (is_heading or is_led or _SENTENCE.fullmatch(line) is not None))


def _unwrap_line(line: str, target: str) -> str:
    """Return one line without what surrounds a title; "" if nothing is left."""
    for _ in range(_STEPS):
        if target and _casefold(line) == target:
            break
        stripped = line.strip(_AROUND)
        if target and _casefold(stripped) == target:
            return stripped
        inner = _step(line)
        if inner == line:
            break
        line = inner
    return line


def _step(line: str) -> str:
    """Return a line without the outermost thing that surrounds a title."""
    line = line.strip()
    if (shorter := _ANOTHER.sub("", _END.sub("", line))) != line:
        return shorter
    if match := _LINE_MARK.match(line):
        return line[match.end() :]
    if tagged := _TAGGED.match(line):
        inner = next(inner for inner in tagged.group("html", "tex", "json", "brackets") if inner is not None)
        return _unescaped(inner) if tagged["json"] else inner
    inner = _unwrap(line)
    if inner is not None:
        return inner
    if match := _LEAD_IN.match(line) or _LABEL.match(line):
        return line[match.end() :]
    if said := _SAID.match(line):
        return said["quoted"]
    return line


def _unwrap(line: str) -> str | None:
    """Return a line without the run of markdown signs, or the pair of quotes, that encloses it; None if nothing does."""
    if not line or line[-1] not in _PAIRS.get(line[0], ""):
        return None
    opening, closing = line[0], line[-1]
    inner = line.lstrip(opening).rstrip(closing)
    begins, ends = len(line) - len(line.lstrip(opening)), len(line) - len(line.rstrip(closing))
    if begins != ends and closing in "*_" and opening in line[begins : len(line) - ends]:
        return None
    both = min(begins, ends)
    # "This" and "that": the first mark is closed before the line ends.
    second = line.find(closing if opening in _QUOTES else closing * both, both, -both)
    if second > both and line[second - 1] not in " (":
        return None
    # If there are two pairs of quotes, the inner one may be the title's own.
    both = 1 if both == 2 and opening in _QUOTES else both
    return line[both : len(line) - both] if inner else ""


def _unescaped(written: str) -> str:
    """Return what a text in JSON says; as it is where JSON has no such text, or TeX's commands are taken for escapes."""
    try:
        said = json.loads(written)
    except ValueError:
        return written
    return str(said) if said.isprintable() else written


def _casefold(text: str) -> str:
    return " ".join(text.casefold().split())


# --- longer texts

_SECTION = r"(?:abstract|introduction|related works?)"
# "### Abstract", "**1 Introduction**", "Abstract: LoRA" with a heading's mark; "Abstract:" before the text itself.
_HEADING = re.compile(
    rf"#{{1,6}}\s+[*_]*{_SECTION}[*_:. ]{{0,4}}(?:\n|$)|#{{1,6}}\s+[*_]*{_SECTION}[*_]*:\s[^\n.!?]{{1,150}}\n\s*(?=\S)"
    rf"|[#*_\d. ]{{0,8}}{_SECTION}[:*_. ]{{0,4}}(?:\n\s*(?-i:(?=[^\sa-z]))|$)"
    rf"|(?:#{{1,6}}\s+)?[*_]*abstract[*_]*:[*_]*(?= )|#{{1,6}}\s+{_SECTION}:(?= )",
    re.IGNORECASE,
)
_LEAD_LINE = re.compile(
    rf"[*_]*(?:{_YES}\b[,.:!]?\s*)?(?:{_HERE})(?=[^\n]{{0,120}}\b(?:{_SECTION}|section|summary|text|version|paper)\b)[^\n]{{0,200}}:[*_]*(?:\n|$)",
    re.IGNORECASE,
)
# Lines that rule off the text, and the paper's title above an abstract: said to be it, or as a heading above another one.
_RULES = re.compile(
    r"(?:-{3,}[ \t]*\n+)+|[#*_ ]{0,8}title[*_]{0,2}:[^\n]{0,300}\n\s*(?=[#*_ ]{0,8}abstract\b)"
    r"|(?:#{1,6}\s[^\n]{1,300}|\*\*[^\n*]{1,300}\*\*[ \t]*)\n\s*(?=(?:#{1,6}\s+[*_]{0,2}|\*\*)abstract[*_:. ]{0,4}\n)",
    re.IGNORECASE,
)
_FENCE = "```"
_FENCED = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\{abstract\}\s*(?P<text>(?:(?!\\begin).)*?)\s*\\end\{abstract\}", re.DOTALL)
_REMARK = re.compile(
    r"\n(?:[ \t]{0,4}-{3,}[ \t]{0,4}\n{1,3})?[ \t]{0,4}[*_]{0,2}(?:i hope (?:this|that|it|you)|(?:please )?let me know"
    r"|(?:please )?feel free|would you like me|\(?word count)\b"
    r"[^\n]{0,200}$",
    re.IGNORECASE,
)


def text(answer: str, target: str = "") -> str:
    """Return the abstract or section in an answer: without a lead-in, its heading, a fence around it, and a closing remark.

    Args:
        target: the paper's own text; what it begins and ends with is not taken off.
    """
    rest = answer.replace("\r\n", "\n").strip()
    if (end := _END.search(rest)) and not _casefold(target).endswith(_casefold(end[0])):
        rest = rest[: end.start()].rstrip()
    if (fenced := _FENCED.fullmatch(rest)) and _FENCE not in fenced[1] and not target.lstrip().startswith(_FENCE):
        rest = fenced[1].strip()
    if environment := _ENVIRONMENT.fullmatch(rest):
        rest = environment["text"]
    for pattern in (_RULES, _LEAD_LINE, _RULES, _HEADING):
        match = pattern.match(rest)
        if match and not _casefold(target).startswith(_casefold(match[0])):
            rest = rest[match.end() :].lstrip()
    remark = _REMARK.search(rest.removesuffix("---"))
    return rest[: remark.start()].rstrip() if remark and not _casefold(target).endswith(_casefold(remark[0])) else rest
