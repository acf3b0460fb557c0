"""What a model writes, taken apart into its reasoning and its answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What models put around their reasoning: before it, behind it.
_REASONING = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"), ("<seed:think>", "</seed:think>"),
    # gpt-oss, with its special tokens and without them
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)  # fmt: skip
_CHANNELS = re.compile(r"^analysis(?=[A-Z])(?:.*?assistantfinal(?P<final>.*))?", re.DOTALL)
_ENDS = ("<|return|>", "<|end|>")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, taken apart.

    Attributes:
        answer: empty where the reasoning was never finished.
        reasoning: what stands before the answer, with its marks; "" without reasoning.
    """

    answer: str
    reasoning: str = ""
    unfinished: bool = False


def take_apart(text: str, opened: str = "", closing: str = "") -> Reply:
    """Take the reasoning off an answer.

    Args:
        opened: the mark of reasoning that the chat template wrote before the answer; "" where it wrote none.
        closing: the mark that ends this model's reasoning, where the user named one (lm-eval's `think_end_token`).
    """
    if channels := _CHANNELS.match(text):
        final = channels["final"]
        return Reply("", text, unfinished=True) if final is None else Reply(final.strip(), text[: -len(final) or None])
    marks = [*(mark for _, mark in _REASONING), *filter(None, [closing])]
    begin = max((text.rfind(mark) + len(mark) for mark in marks if mark in text), default=0)
    answer = text[begin:]
    if any(mark in answer for mark, _ in _REASONING) or (opened and text.strip() and not begin):
        return Reply("", text, unfinished=True)
    for mark in _ENDS:
        answer = answer.removesuffix(mark)
    return Reply(answer.strip(), text[:begin])


def reply_of(text: str, doc: Mapping[str, Any]) -> Reply:
    """A model's answer taken apart, with what its row knows of the marks."""
    return take_apart(text, str(doc.get("opens") or ""), str(doc.get("closes") or ""))


def in_marks(reasoning: str) -> str:
    """Reasoning that a server hands over apart from the answer, as a model would have written it before the answer."""
    before, behind = _REASONING[0]
    return f"{before}{reasoning}{behind}" if reasoning else ""


def opened(prompt: str) -> str:
    """The mark of reasoning that a prompt ends with, which some chat templates write before the answer; "" without one."""
    end = prompt.rstrip()
    return next((mark for mark, _ in _REASONING if end.endswith(mark)), "")
