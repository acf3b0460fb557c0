"""What a model writes, taken apart into its reasoning and its answer."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

# An interface's, which also writes how long it took and whether it is done; its end is that of any `details`.
_DETAILS = ('<details type="reasoning">', "</details>")
_OWN_DETAILS = re.compile(r"<details\b[^<>]*\btype=[\"']?reasoning(?=[\"'\s>])[^<>]*>")
# What models put around their reasoning: before it, after it. A model's own template says it first, see `marks_of`.
_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>thought", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    _DETAILS,
    ("Here is my thought process:", "Here is my response:"),
    # gpt-oss, with its special tokens and without them
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
# gpt-oss without its special tokens: "analysis", thoughts, "assistantfinal", the answer. No word continues after
# "analysis" as thoughts do.
_CHANNELS = re.compile(
    r"^\s*analysis(?:.*?assistantfinal(?P<final>.*)|(?=[^\W_]|[\"“\n]|\s(?:We (?:need|must|have|should|are)|I (?:need|should|must|will)"
    r"|The user (?:asks|wants|is|says|has)|User|Okay|Need|Let)\b).*)",
    re.DOTALL,
)
_SPACE = re.compile(r"\s*")
# What may stand around the answer behind the reasoning.
_AROUND_WORDS = frozenset(" `'\"()“”‘’")
_STARTS = ("<response>", "<|START_RESPONSE|>", "<|begin_of_solution|>", "<|begin_of_box|>")
_ENDS = (
    "<|endoftext|> <|im_end|> <|user|> <|return|> <|end|> </response> <|END_RESPONSE|> <|end_of_solution|> <|end_of_box|>"
).split()
_THOUGHT, _ANSWER = "some thought", "some answer"
# Shorter ones, such as quotes, stand in answers too.
_SHORTEST_MARK = 4


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, taken apart.

    Attributes:
        answer: empty if the reasoning was never finished.
        reasoning: what precedes the answer, with its marks; "" without reasoning.
    """

    answer: str
    reasoning: str = ""
    unfinished: bool = False


def take_apart(text: str, opened: str = "", closing: str = "", opening: str = "") -> Reply:
    """Take the reasoning off an answer.

    Args:
        opened: the mark of reasoning that the chat template wrote before the answer; "" if it wrote none.
        closing: the mark that ends this model's reasoning, as its template or the user says (lm-eval's `think_end_token`).
        opening: the mark that begins it.
    """
    text, details = _OWN_DETAILS.subn(_DETAILS[0], text)
    if channels := _CHANNELS.match(text):
        final = channels["final"]
        return (
            Reply("", text, unfinished=True) if final is None else Reply(final.strip(), text[: len(text) - len(final)])
        )
    known = [pair for pair in _REASONING if details or pair != _DETAILS]
    marks = (*known, (opening, closing)) if closing else tuple(known)
    openings = tuple(before for before, _ in marks if before)
    on_lines = [match.span() for match in re.finditer(rf"\n(?:{'|'.join(map(re.escape, openings))})", text)]
    at = begins = 0
    is_open = bool(opened and text.strip()) or text.startswith(openings, _behind_space(text, 0))
    first = min((found for before in openings if (found := text.find(before)) >= 0), default=len(text))
    closings = (match.span() for _, mark in marks for match in re.finditer(re.escape(mark), text))
    for start, end in sorted(closings, key=lambda span: span[1]):
        # Thoughts may begin, and begin again, on a separate line.
        is_open = is_open or _is_within(on_lines, at, start)
        if start < at or (at and not is_open and start > begins):
            continue
        # Without an opening mark, a closing one between blanks or quotes, or behind one that opens within a text, is a mere word.
        is_quoted = text[start - 1 : start] in _AROUND_WORDS and text[end : end + 1] in _AROUND_WORDS
        if is_open or not start or not (is_quoted or first < start):
            at, begins = end, _behind_space(text, end)
            is_open = text.startswith(openings, begins)
    if is_open or _is_within(on_lines, at, len(text)):
        return Reply("", text, unfinished=True)
    answer = _without_blocks(text[at:], marks).strip()
    if not answer:
        before = _before_thoughts(text[:at], openings, tuple(behind for _, behind in marks))
        earlier = take_apart(before, opened, closing, opening) if before else Reply("")
        if earlier.answer:
            return earlier
    for mark in _ENDS:
        answer = answer.removesuffix(mark).rstrip()
    for mark in _STARTS:
        answer = answer.removeprefix(mark).lstrip()
    return Reply(answer, text[:at])


def _before_thoughts(text: str, openings: Sequence[str], closings: tuple[str, ...]) -> str:
    """Return what stands before the thoughts that a text ends with."""
    found = ((match.start(), mark) for mark in openings for match in re.finditer(f"(?={re.escape(mark)})", text))
    begins = sorted((start, start + len(mark)) for start, mark in found)
    end = _before_space(text, len(text))
    while text.endswith(closings, 0, end):
        while begins and begins[-1][1] > end:
            begins.pop()
        end = _before_space(text, begins[-1][0] if begins else 0)
    return text[:end]


def _without_blocks(answer: str, marks: Sequence[tuple[str, str]]) -> str:
    """Leave out thoughts behind an answer."""
    for before, behind in marks:
        begins = answer.find(before) if before else -1
        ends = answer.find(behind, begins) if begins > 0 else -1
        if ends > 0 and not answer[ends + len(behind) :].strip() and answer[:begins].strip():
            answer = answer[:begins]
    return answer


def _is_within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    first = bisect_left(spans, (start, 0))
    return first < len(spans) and spans[first][1] <= end


def _behind_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _before_space(text: str, at: int) -> int:
    while at and text[at - 1].isspace():
        at -= 1
    return at


def in_marks(reasoning: str, *, closed: bool = True) -> str:
    """Return reasoning that a server hands over separately from the answer, as a model would have written it before the answer; `closed` if
    it came to its end.
    """
    before, behind = _REASONING[0]
    # What it says about such marks itself would end it.
    for mark in (before, behind):
        reasoning = reasoning.replace(mark, f"{mark[0]}\u200b{mark[1:]}")
    return f"{before}{reasoning}{behind if closed else ''}" if reasoning else ""


def opening_mark(prompt: str, own: str = "") -> str:
    """Return the mark of reasoning that a prompt ends with, which some chat templates write before the answer, or the model's own one if it
    is known; "" without one.
    """
    end = prompt.rstrip()
    return next((mark for mark in (own, *(mark for mark, _ in _REASONING)) if mark and end.endswith(mark)), "")


def marks_of(render: Callable[[dict[str, str]], str], prompt: str) -> tuple[str, str]:
    """Return what a chat template writes before and after the reasoning of an answer; two empty texts if it shows none.

    Args:
        render: a conversation that ends with an answer, as the template writes it.
        prompt: the conversation before the answer.
    """
    answer = {"role": "assistant", "content": _ANSWER}
    try:
        thought = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), _THOUGHT)
        shown, plain = render(answer | thought), render(answer)
    except Exception:  # whatever a template raises that knows no answers of this shape
        return "", ""
    before, is_shown, behind = shown.partition(_THOUGHT)
    closing, is_answered, _ = behind.partition(_ANSWER)
    if not (is_shown and is_answered and len(closing.strip()) >= _SHORTEST_MARK):
        return "", ""
    at = min(_in_common(before, plain), _in_common(before, prompt))
    # Two marks may begin alike.
    begins = before.rfind("<", 0, at)
    return before[begins if begins >= 0 and ">" not in before[begins:at] else at :].strip(), closing.strip()


def _in_common(first: str, second: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
