"""Asking one judge about every sample in both orders; each verdict is journaled as soon as it arrives."""

import asyncio
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from lm_eval_tasks.base.errors import CostError, EvalError, ServerError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.progress import counted
from lm_eval_tasks.judge.verdict import REPAIR, is_complete, parse, prompt_of
from lm_eval_tasks.llm.chat import Ask, Messages, NoAnswer, Server, Stopped, ask_all, served_models
from lm_eval_tasks.llm.ledger import LOST, OPEN, Purse
from lm_eval_tasks.llm.usage import Means, Usage, UsageTotals, usage_together

_LOGGER = logging.getLogger(__name__)
_MAX_TOKENS = 1024
USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers in one order; `task`, `id` and `order` go into the journal for its readers."""

    task: str
    id: str
    order: int
    first: str
    second: str
    evidence: str = ""

    @property
    def prompt(self) -> str:
        return prompt_of(self.first, self.second, self.evidence)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: the winners overall and by dimension; None, and the text, of a verdict that could not be read; or why none
    came.
    """

    winners: dict[str, int] | None
    failed: str
    text: str = ""


def check_judge(server: Server) -> None:
    """Raise an EvalError for a judging model whose key is missing, or that the server does not serve; a ServerError if the server cannot be
    reached.
    """
    if not os.environ.get("OPENAI_API_KEY") and server.base_url is None:
        raise EvalError("no key: set OPENAI_API_KEY, or name your own server with --base-url")
    served = asyncio.run(served_models(server))
    if served and server.model not in served:
        raise EvalError(
            f"{server.base_url or 'the OpenAI API'} does not serve {server.model!r}; it has {', '.join(sorted(served)[:5])}"
        )


def ask_judge(
    server: Server, questions: Iterable[Comparison], journal: Journal, *, means: Means, concurrency: int
) -> None:
    """Ask every question that the journal has no verdict for; those that failed or could not be read are asked again.

    Raises:
        KeyboardInterrupt: it was asked to stop.
        ServerError: the server can no longer be asked; all verdicts so far are in the journal.
        CostError: the rest could pass the bound; likewise.
    """
    # Two questions that are the same are one.
    every = {key_of(server.model, question): question for question in questions}
    missing = {key: question for key, question in every.items() if not is_answered(server.model, question, journal)}
    with counted(f"judge {server.model}", len(every), len(every) - len(missing)) as progress:

        def note(key: str, outcome: dict[str, object]) -> None:
            earlier = journal.get(key)
            # Earlier answers to the question were paid for as well.
            if isinstance(earlier, dict) and isinstance(earlier.get(USAGE), dict):
                outcome |= _usage_entry([Usage.of_json(earlier[USAGE]), Usage.of_json(outcome.get(USAGE))])
            journal.add(key, outcome)
            progress.update()

        async def answer(ask: Ask, key: str) -> dict[str, object]:
            return await _verdict(ask, missing[key])

        purse = Purse.of(journal, means, lambda: usages_of(journal))
        ask_all(server, missing, answer, note, concurrency, purse)


def usages_of(journal: Journal | Mapping[str, object]) -> list[Usage]:
    """List what the verdicts of a journal took; a request that failed took nothing."""
    values = (journal.get(key) for key in journal if key not in (OPEN, LOST))
    entries = [entry for entry in values if isinstance(entry, dict)]
    return [Usage.of_json(entry.get(USAGE)) for entry in entries if entry.get(USAGE) or not entry.get("failed")]


def key_of(model: str, question: Comparison) -> str:
    """Return sha256 over judge and prompt, which contains both answers in their order."""
    return sha256_of_bytes(json.dumps([model, question.prompt]))


def is_answered(model: str, question: Comparison, journal: Journal | Mapping[str, object]) -> bool:
    """Tell whether the journal has a verdict of a judge that can be read."""
    outcome = outcome_of(model, question, journal)
    return outcome is not None and outcome.winners is not None


def outcome_of(model: str, question: Comparison, journal: Journal | Mapping[str, object]) -> Outcome | None:
    """Return what the journal says about a question to a judge; None if it says nothing that can be read."""
    value = journal.get(key_of(model, question))
    if not isinstance(value, dict):
        return None
    winners, failed = value.get("winners"), value.get("failed", "")
    if winners is not None and not is_complete(winners):
        return None
    text = str(value.get("text") or "")
    if winners is None and text:
        # What another release could not read, this one may.
        verdict = parse(text)
        if verdict:
            return Outcome(verdict, "")
    return Outcome(winners, failed, text) if isinstance(failed, str) and "winners" in value else None


async def _verdict(ask: Ask, question: Comparison) -> dict[str, object]:
    """The outcome of one question; an answer that cannot be read is asked for once more."""
    about = {"task": question.task, "id": question.id, "order": question.order}
    messages: Messages = [{"role": "user", "content": question.prompt}]
    text, verdict, usages = "", None, list[Usage]()
    try:
        while verdict is None and len(usages) < 2:
            text, usage = await ask(messages, _MAX_TOKENS)
            usages.append(usage)
            verdict = parse(text)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": REPAIR}]
    except (NoAnswer, ServerError, CostError, Stopped) as err:
        # An answer that was paid for is noted, whatever keeps the next question from being asked.
        if not isinstance(err, NoAnswer) and not usages:
            raise
        if isinstance(err, CostError):
            _LOGGER.warning("the verdict on %s could not be read, and is not asked for again: %s", question.id, err)
        noted: dict[str, object] = {**about, "winners": None}
        if text:
            noted["text"] = text
        if isinstance(err, NoAnswer):
            noted["failed"] = str(err)
            usages += [err.usage] if err.usage else []
        return noted | _usage_entry(usages)
    unread = {"text": text} if verdict is None else {}
    return {**about, **_usage_entry(usages), "repaired": len(usages) > 1, "winners": verdict, **unread}


def _usage_entry(usages: Sequence[Usage]) -> dict[str, object]:
    sums = asdict(usage_together([UsageTotals.of([usage]) for usage in usages]))
    return {USAGE: {name: value for name, value in sums.items() if value not in (None, {}) and name != "finish"}}
