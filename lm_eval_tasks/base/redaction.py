"""Secrets stay here: what is written, printed or sent is cleared of them, and what would be uploaded is searched for them.

A secret is known by the name it is kept under, by its place in an address, or by the form that a service gives its keys. Addresses, and
paths on somebody's machine, are nobody else's business either: they are taken out of what leaves it, keys included.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_tasks.base.text import printable

HIDDEN = "***"
# `token` alone or after what it opens; `think_end_token` and `tokenizer` are other things.
_NAME = (
    r"(?:[\w-]*(?:api|access|secret|private|signing|service|openai|anthropic|azure|google|cohere|mistral|together|groq)[_-]?key|"
    r"[\w-]*(?:secret|passw(?:or)?d|passphrase|credentials?)|pwd|auth|(?:[\w-]*-)?authorization|"
    r"(?:[\w-]*(?:api|access|auth|bearer|refresh|id|hub|hf|session)[_-]?)?token|hf[_-]?hub[_-]?token)"
)
_KEY = re.compile(_NAME, re.IGNORECASE)
# Kind -> its form; what is hidden is the group.
_FORMS = {
    # Up to the last @ of the host's part: a password may contain one.
    "a user and password in an address": re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://([^\s/'\"<>]+)@", re.IGNORECASE),
    "a key in an address": re.compile(
        r"[?&](?:key|sig|signature|code|auth|[a-z_-]{0,20}(?:key|token|secret))=([^&\s'\"<>#]{4,})", re.IGNORECASE
    ),
    "a key on a command line": re.compile(
        r"--[\w-]{0,40}(?:key|token|password|secret)[= ]+(?!\*)([^\s'\"]{4,})", re.IGNORECASE
    ),
    "a bearer token": re.compile(r"\b(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]{8,})"),
    "a Hugging Face token": re.compile(r"\b(hf_[A-Za-z0-9]{20,})"),
    "an API key": re.compile(
        r"\b((?:sk|rk|pk|xai)-[A-Za-z0-9_-]{20,}|(?:gsk|r8|npm)_[A-Za-z0-9]{20,}|[sr]k_live_[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_-]{30,})"
    ),
    "a cloud access key": re.compile(r"\b((?:AKIA|ASIA)[A-Z0-9]{16})\b"),
    "a GitHub or GitLab token": re.compile(
        r"\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,})"
    ),
    "a signed token": re.compile(r"(?<![\w-])(eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    "a Slack token": re.compile(r"\b(xox[abprs]-[A-Za-z0-9-]{10,})"),
    "a private key": re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)"),
}
# name=value and "name": "value"; not if the value is one of our own words or empty. Prose has colons too.
_ASSIGNED = re.compile(
    rf"(?<![\w-])({_NAME})(['\"]?\s*=\s*['\"]?|\\{{0,9}}['\"]\s*:\s*\\{{0,9}}['\"]?)(?!{re.escape(HIDDEN)}|none\b|null\b|true\b|false\b|\{{|\[)([^\s,;&'\"<>()]{{4,}})",
    re.IGNORECASE,
)


def redact(value: Any) -> Any:
    """Return a value with every secret in it, at any depth, replaced."""
    if isinstance(value, str):
        for form in _FORMS.values():
            value = form.sub(lambda match: match[0].replace(match[1], HIDDEN), value)
        return _ASSIGNED.sub(lambda match: f"{match[1]}{match[2]}{HIDDEN}", value)
    if isinstance(value, Mapping):
        return {redact(key): HIDDEN if _is_secret(key, item) else redact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [redact(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def safe_text(text: str) -> str:
    """Return a line made safe for a terminal or a log, whatever untrusted data or a user's options put into it."""
    return printable(str(redact(text)))


def secrets_in(text: str) -> Iterator[str]:
    """Yield what kinds of secrets a text contains, each with the name that it has, if any, and never the secret itself."""
    for match in _ASSIGNED.finditer(text):
        yield f"a value of {match[1]!r}"
    for name, form in _FORMS.items():
        if any(HIDDEN not in match[1] for match in form.finditer(text)):
            yield name


def _is_secret(key: object, value: object) -> bool:
    # A switch is none, nor what is cleared already.
    if not (isinstance(key, str) and _KEY.fullmatch(key)):
        return False
    return not (value is None or isinstance(value, bool) or value in ("", HIDDEN, [], {}))


# An address, but for that of the Hub; a path, of which the last part is kept, alone or within a text.
_ADDRESS = re.compile(
    r"\b(?:(?!https?://huggingface\.co/)[a-z][a-z0-9+.]*://[^\s,'\"<>]+|\d+(?:\.\d+){3}(?::\d+)?\b)", re.IGNORECASE
)
_PATH = re.compile(
    r"^(?:~|\.+|\$\w+|[A-Za-z]:)?[/\\](?:[^\n,]*[/\\])?([^\n,/\\]+)[/\\]*$"
    r"|(?<![\w:/.~$-])[^\s,'\"/\\=]*[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]+)[/\\]*"
)


def without_places(value: Any) -> Any:
    """Return a value, at any depth, with the last part of each path, and no address; a system prompt stays as it was sent."""
    if isinstance(value, str):
        return _PATH.sub(r"\1\2", _ADDRESS.sub("(address)", value))
    if isinstance(value, Mapping):
        return _cleaned(value)
    return [without_places(item) for item in value] if isinstance(value, list | tuple) else value


def _cleaned(table: Mapping[Any, Any]) -> dict[Any, Any]:
    cleaned: dict[Any, Any] = {}
    for name, item in table.items():
        key, content = without_places(name), item if name == "system_instruction" else without_places(item)
        # Counts of what is now called the same are counted together.
        is_counted = type(content) is int and type(cleaned.get(key)) is int
        cleaned[key] = cleaned[key] + content if is_counted else content
    return cleaned
