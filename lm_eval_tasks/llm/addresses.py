"""A journal whose answers came from one server, and a run that names another: a server calls its models as it likes."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import requests
from urllib3.exceptions import HTTPError

from lm_eval_tasks.base.completions import MOST_BYTES
from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.files import write_whole
from lm_eval_tasks.base.journal import read_entries
from lm_eval_tasks.base.progress import within
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.base.text import parse_json
from lm_eval_tasks.llm.ledger import LOST, OPEN

_LOGGER = logging.getLogger(__name__)
# Seconds that a server may take to list its models.
_SECONDS = 10.0
_ENDPOINTS = ("/chat/completions", "/completions")


def check_address(journal: Path | None, url: str) -> None:
    """Compare the server that a run names with the one that its journal's answers came from, by the models that both say they serve.
    Beside a journal without answers, note which server they will come from.

    Raises:
        ModelError: the servers serve other models.
    """
    if not journal or not url:
        return
    noted = _noted(journal) or {}
    is_same = noted.get("url") == redact(url)
    # A server that was starting may have listed none.
    if not _has_answers(journal) or (is_same and not noted.get("models")):
        content = {"url": redact(url), "models": sorted(_models(url))}
        write_whole(noted_at(journal), json.dumps(content) + "\n")
        return
    if not noted:
        return
    before, now = set(map(str, noted.get("models") or ())), _models(url)
    if before and now and before.isdisjoint(now):
        raise ModelError(
            f"the answers so far are by {', '.join(sorted(before)[:3])} at {noted.get('url')}, and {redact(url)} serves "
            f"{', '.join(sorted(now)[:3])}: give this run its own --output folder"
        )
    if not is_same:
        _LOGGER.warning(
            "answers that came from %s are kept; if another model answers at %s, give this run its own --output folder",
            noted.get("url"),
            redact(url),
        )


def _has_answers(journal: Path) -> bool:
    """Tell whether a journal has more than what requests may have cost."""
    entries = read_entries(journal) if journal.is_file() else ()
    return any(entry is None or entry["key"] not in (OPEN, LOST) for entry in entries)


def noted_at(journal: Path) -> Path:
    """Return the file beside a journal that notes the server of its answers."""
    return journal.with_name(f".{journal.name}.address")


def _noted(journal: Path) -> dict[str, Any] | None:
    try:
        content = parse_json(noted_at(journal).read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _models(url: str) -> frozenset[str]:
    """Ask a server for its models; none if it does not say, or cannot be reached. This works without the package `openai`."""
    url = url.rstrip("/")
    base = next((url.removesuffix(end) for end in _ENDPOINTS if url.endswith(end)), url)
    try:
        content = parse_json(within(_SECONDS, lambda: _asked(f"{base}/models")))
        return frozenset(str(model["id"]) for model in content["data"])
    except (OSError, HTTPError, ValueError, KeyError, TypeError):
        return frozenset()


def _asked(url: str) -> bytes:
    key = os.environ.get("OPENAI_API_KEY") or "none"
    headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"}
    with requests.get(
        url,
        headers=headers,
        # Else what a .netrc says of this host takes the place of the key.
        auth=lambda request: request,
        timeout=_SECONDS,
        allow_redirects=False,
        stream=True,
    ) as response:
        body: bytes = response.raw.read(MOST_BYTES)
        return body
