"""Who tells attributional from descriptive citations: the classifier that ships with us, or a language model behind a server."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from builder.errors import SourceError
from builder.progress import progress
from builder.round.levels import CitationType
from builder.round.model import Round
from builder.scalar.citation_classifier import Context, types_of
from lm_eval_tasks.journal import Journal

JOURNAL = "citation_types.jsonl"
_CONCURRENT = 8
_PROMPT = (
    "A citation in a research paper is marked with >>> and <<<. It is ATTRIBUTIONAL if the words around it name a specific "
    "method, model, dataset, tool or product as the thing that is cited, and DESCRIPTIVE if the citation supports a "
    "statement or stands for its authors without such a name. Answer with one word, ATTRIBUTIONAL or DESCRIPTIVE.\n\n"
)
_ANSWER = re.compile(r"attributional|descriptive", re.IGNORECASE)


def typing_of(round_: Round) -> Callable[[Sequence[Context]], Sequence[CitationType]]:
    """The annotator that the round asks for."""
    if round_.scalar.annotator == "rules":
        return types_of
    asked = Journal(round_.workspace / JOURNAL)
    return lambda contexts: ask_model(contexts, round_.scalar.base_url or "", round_.scalar.model or "", asked)


def ask_model(contexts: Sequence[Context], base_url: str, model: str, journal: Journal) -> list[CitationType]:
    """Ask a model behind an OpenAI-compatible server about every citation; answers are kept in the journal.

    Raises:
        SourceError: the server cannot be reached, or says neither of the two words.
    """
    keys = [_key(context, model) for context in contexts]
    # Citations in groups are not asked about: nothing is made of them.
    missing = {
        key: context for key, context in zip(keys, contexts, strict=True) if context.single and key not in journal
    }
    with ThreadPoolExecutor(_CONCURRENT) as threads:
        answers = threads.map(lambda context: _ask(context, base_url, model), missing.values())
        for key, answer in zip(missing, progress(answers, "citation types", len(missing)), strict=True):
            journal.add(key, answer)
    return [journal.get(key, "descriptive") for key in keys]


def _ask(context: Context, base_url: str, model: str) -> CitationType:
    import openai

    # A server of one's own asks for no key.
    client = openai.OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    prompt = f"{_PROMPT}{context.before}>>>{context.citation}<<<{context.after}"
    try:
        reply = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": prompt}], temperature=0, max_tokens=16
        )
    except openai.OpenAIError as err:
        raise SourceError(f"the annotator {model!r} at {base_url} cannot be asked: {err}") from err
    said = _ANSWER.search(reply.choices[0].message.content or "")
    if said is None:
        raise SourceError(f"the annotator {model!r} at {base_url} answered neither ATTRIBUTIONAL nor DESCRIPTIVE")
    return "attributional" if said[0].lower() == "attributional" else "descriptive"


def _key(context: Context, model: str) -> str:
    content = json.dumps([model, _PROMPT, context.before, context.citation, context.after])
    return hashlib.sha256(content.encode()).hexdigest()
