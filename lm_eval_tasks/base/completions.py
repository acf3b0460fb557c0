"""Bodies of OpenAI-compatible completions, in the shapes that servers give them."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

# More than any answer has.
MOST_BYTES = 16_000_000
# Characters of a page that are looked at, and shown.
_BEGINNING, _SHOWN = 20_000, 100


class CompletionError(ValueError):
    """A body that says an error in place of an answer, or has none.

    Attributes:
        status: that a server would have given it; None if it names none.
        usage: what it was charged for all the same; None if it does not say.
    """

    def __init__(self, message: str, status: int | None = None, usage: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.status, self.usage = status, usage


def readable(body: Any) -> Mapping[str, Any]:
    """Return a completion with its first choice, whose message has a text as content, and reasoning among its parts in the field for it.

    Raises:
        CompletionError: it has no choices, or is a page.
    """
    if isinstance(body, str):
        raise CompletionError(f"a page in place of an answer: {words_of(body)!r}")
    if not isinstance(body, Mapping) or not body.get("choices"):
        raise _error_of(body if isinstance(body, Mapping) else {})
    choice = min(body["choices"], key=lambda choice: choice.get("index") or 0)
    if choice.get("error") or choice.get("finish_reason") == "error" or body.get("error"):
        raise _error_of({**body, "error": choice.get("error") or body.get("error")})
    return {**body, "choices": [_choice({**choice, "index": 0})]}


def words_of(page: str) -> str:
    """Return the first words that a page shows."""
    shown = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", page[:_BEGINNING])
    return " ".join(html.unescape(shown).split())[:_SHOWN]


def _error_of(body: Mapping[str, Any]) -> CompletionError:
    error = body.get("error")
    fields = error if isinstance(error, Mapping) else {}
    code = str(fields.get("code") or fields.get("status") or "")
    usage = body.get("usage")
    return CompletionError(
        str(fields.get("message") or error or "an answer without choices")[:300],
        int(code) if code.isdecimal() and len(code) == 3 else None,
        {**usage, "model": body.get("model")} if isinstance(usage, Mapping) else None,
    )


def _choice(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    message = choice.get("message")
    parts = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(parts, Sequence) or isinstance(parts, str):
        return choice
    answer, reasoning = _texts(parts)
    before = message.get("reasoning_content") or reasoning
    return {**choice, "message": {**message, "content": answer, **({"reasoning_content": before} if before else {})}}


def _texts(parts: Sequence[Any]) -> tuple[str, str]:
    """Return the texts of a message's parts: of its answer, and of its reasoning."""
    answer, reasoning = "", ""
    for part in parts:
        fields = part if isinstance(part, Mapping) else {"text": part}
        type_ = str(fields.get("type", "text"))
        inner = next((fields[name] for name in (type_, "text", "content") if fields.get(name)), "")
        text = inner if isinstance(inner, str) else "".join(_texts(inner)) if isinstance(inner, Sequence) else ""
        if type_ in ("thinking", "reasoning"):
            reasoning += text
        else:
            answer += text
    return answer, reasoning
