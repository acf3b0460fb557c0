"""What a model writes, taken apart into its reasoning and its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What models put around their reasoning: before it, after it.
_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    # gpt-oss, with its special tokens and without them
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
# gpt-oss without its special tokens: "analysis", thoughts, "assistantfinal", the answer. No word continues after
# "analysis" as thoughts do.
_CHANNELS = re.compile(
    r"^\s*analysis(?:.*?assistantfinal(?P<final>.*)|(?=[^\s.,:;!?)'’-]|\n|\s(?:We|I|The user|User|Okay|Need|Let)\b).*)",
    re.DOTALL,
)
_ENDS = ("<|return|>", "<|end|>")


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


def take_apart(text: str, opened: str = "", closing: str = "") -> Reply:
    """Take the reasoning off an answer.

    Args:
        opened: the mark of reasoning that the chat template wrote before the answer; "" if it wrote none.
        closing: the mark that ends this model's reasoning, if the user named one (lm-eval's `think_end_token`).
    """
    if channels := _CHANNELS.match(text):
        final = channels["final"]
        return (
            Reply("", text, unfinished=True) if final is None else Reply(final.strip(), text[: len(text) - len(final)])
        )
    marks = _REASONING if not closing else (*_REASONING, ("", closing))
    rest, is_open = text, bool(opened and text.strip())
    while True:
        is_open = is_open or any(before and rest.lstrip().startswith(before) for before, _ in marks)
        ends = [end for _, mark in marks if (end := _end(rest, mark, is_open=is_open))]
        if not ends:
            break
        rest, is_open = rest[min(ends) :], False
    # Thoughts may begin again on a separate line.
    if is_open or any(before and f"\n{before}" in rest for before, _ in marks):
        return Reply("", text, unfinished=True)
    answer = rest
    for mark in _ENDS:
        answer = answer.removesuffix(mark)
    return Reply(answer.strip(), text[: len(text) - len(rest)])


def _end(text: str, mark: str, *, is_open: bool) -> int:
    """After the mark that ends thoughts; 0 if there is none. Without an opening mark, one between spaces is a mere word."""
    place = text.find(mark)
    while place >= 0:
        behind = place + len(mark)
        if is_open or not (text[place - 1 : place] == " " and text[behind : behind + 1] == " "):
            return behind
        place = text.find(mark, behind)
    return 0


def in_marks(reasoning: str, *, closed: bool = True) -> str:
    """Reasoning that a server hands over separately from the answer, as a model would have written it before the
    answer.

    Args:
        closed: whether it came to its end.
    """
    before, behind = _REASONING[0]
    return f"{before}{reasoning}{behind if closed else ''}" if reasoning else ""


def opening_mark(prompt: str) -> str:
    """The mark of reasoning that a prompt ends with, which some chat templates write before the answer; "" without one."""
    end = prompt.rstrip()
    return next((mark for mark, _ in _REASONING if end.endswith(mark)), "")
