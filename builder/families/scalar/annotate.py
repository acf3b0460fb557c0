"""Telling attributional from descriptive citations: the classifier that ships with us, or a language model behind a server."""

import json
import re
from collections.abc import Callable, Sequence
from typing import get_args

from builder.errors import SourceError
from builder.families.scalar.citation_classifier import CitationInText, types_of
from builder.round.model import Round
from lm_eval_tasks.base.errors import ServerError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.families.scalar import CitationType
from lm_eval_tasks.llm import chat

JOURNAL = "citation_types.jsonl"
_PROMPT = (
    "A citation in a research paper is marked with >>> and <<<. It is ATTRIBUTIONAL if the words around it name a specific "
    "method, model, dataset, tool or product as the thing that is cited, and DESCRIPTIVE if the citation supports a "
    "statement or stands for its authors without such a name. Answer with one word, ATTRIBUTIONAL or DESCRIPTIVE.\n\n"
)
# Share of the citations of a paper that an annotator may leave open.
_MOST_UNCLEAR = 0.05
# Questions that are asked at the same time, and tokens of an answer.
_CONCURRENT, _MOST_TOKENS = 8, 16
_ANSWER = re.compile(r"attributional|descriptive", re.IGNORECASE)


def typing_of(round_: Round) -> Callable[[Sequence[CitationInText]], Sequence[CitationType]]:
    """Return the annotator that the round asks for."""
    if round_.scalar.annotator == "rules":
        return types_of
    journal = Journal(round_.workspace / JOURNAL)
    return lambda citations: ask_model(citations, round_.scalar.base_url or "", round_.scalar.model or "", journal)


def ask_model(citations: Sequence[CitationInText], base_url: str, model: str, journal: Journal) -> list[CitationType]:
    """Ask a model behind an OpenAI-compatible server about every citation; answers are kept in the journal.

    Args:
        base_url: of the server; your own server needs no key, others take OPENAI_API_KEY.

    Raises:
        SourceError: the server cannot be reached, gives no answer, or answers with neither of the two words.
    """
    told = ([model, _PROMPT, citation.before, citation.citation, citation.after] for citation in citations)
    keys = [sha256_of_bytes(json.dumps(content)) for content in told]
    # Citations in groups are not asked about: they are not used.
    missing = {
        key: f"{_PROMPT}{citation.before}>>>{citation.citation}<<<{citation.after}"
        for key, citation in zip(keys, citations, strict=True)
        if citation.single and key not in journal
    }
    failed: list[str] = []

    async def answer(ask: chat.Ask, key: str) -> str | None:
        try:
            return (await ask([{"role": "user", "content": missing[key]}], _MOST_TOKENS))[0]
        except chat.NoAnswer as err:
            failed.append(str(err))
            return None

    def note(key: str, text: str | None) -> None:
        if text is not None:
            match = _ANSWER.search(text)
            journal.add(key, f"unclear: {text[:200]}" if match is None else match[0].lower())

    server = chat.Server(model, base_url)
    try:
        if missing:
            chat.ask_all(server, missing, answer, note, _CONCURRENT)
    except ServerError as err:
        raise SourceError(f"the annotator cannot be asked: {err}") from err
    if failed:
        raise SourceError(
            f"the annotator {server} did not answer {len(failed)} of {len(missing)} questions, first: {failed[0]}; run the "
            "same command again, the other answers are kept"
        )
    answers = [journal.get(key, "descriptive") for key in keys]
    unclear = [answer for answer in answers if answer not in get_args(CitationType)]
    asked = sum(citation.single for citation in citations)
    if len(unclear) > max(1, _MOST_UNCLEAR * asked):
        raise SourceError(
            f"the annotator {model!r} answered neither ATTRIBUTIONAL nor DESCRIPTIVE to {len(unclear)} of {asked} citations "
            f"({unclear[0]!r:.80}); name another `scalar.model`"
        )
    # A citation that the annotator cannot classify counts as descriptive.
    return [answer if answer in get_args(CitationType) else "descriptive" for answer in answers]
