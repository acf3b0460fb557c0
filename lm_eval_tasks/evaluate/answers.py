"""A model of lm-eval whose answers are journaled as they end, so that a killed run resumes, and counted."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import filterfalse
from typing import Any, TypeVar

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.base.contract import CAPPED
from lm_eval_tasks.base.errors import CostError, ModelError
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.progress import counted
from lm_eval_tasks.compat.likelihoods import scorer_of
from lm_eval_tasks.compat.lm_eval_answers import RequestEvent, Watch
from lm_eval_tasks.compat.scored_texts import Scored
from lm_eval_tasks.evaluate.baselines import GeneratingLM
from lm_eval_tasks.evaluate.failures import in_one_sentence
from lm_eval_tasks.evaluate.generation import by_beginning
from lm_eval_tasks.evaluate.model_requests import (
    LikelihoodRequest,
    PromptRequest,
    digest_of,
    likelihood_requests,
    noted_as,
    read_noted,
    requests_of,
)
from lm_eval_tasks.llm import tokenizers
from lm_eval_tasks.llm.ledger import Purse, lost_in
from lm_eval_tasks.llm.thoughts import in_marks, take_apart
from lm_eval_tasks.llm.usage import Means, Usage, UsageTotals, at_most, dearest, with_costs
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Generated
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import EMPTY, JOURNALED

_LOGGER = logging.getLogger(__name__)
_FREE = Purse()
_Asked = TypeVar("_Asked", PromptRequest, LikelihoodRequest)
# Rows by likelihood that are paid for together.
_AT_ONCE = 64


class AnsweringLM(GeneratingLM):
    """A model that looks its answers up in a journal, and notes each new one there as soon as the model has it.

    Args:
        identity: what distinguishes the model, see `models.identity_of`.
        purse: what the run may cost, and where lost requests are noted.
        repeated: whether prompts are asked several times, for which a server needs a new seed each time.
        once: whether equal prompts have equal answers, as those of a language model that does not sample.

    Attributes:
        asked: questions that were asked in this run; the others were in the journal.
    """

    def __init__(
        self,
        lm: LM,
        identity: str,
        journal: Journal,
        purse: Purse = _FREE,
        *,
        repeated: bool = False,
        once: bool = True,
    ) -> None:
        super().__init__()
        self._lm, self._identity, self._journal = lm, identity, journal
        self._budget, self._ledger = purse.budget, purse.ledger
        self._rank, self._world_size = lm.rank, lm.world_size
        self._once = once and not repeated
        self._before = purse.before
        self._watch = Watch(lm, self._note_early, self._note_lost, in_marks, new_seeds=repeated)
        # The most that one of the questions under way can take: which of them a request asks is not told.
        self._dearest = Usage(0, 0)
        # Questions under way, by what identifies them: twins are answered in the order in which answers come.
        self._waiting: dict[str, list[PromptRequest]] = {}
        # Of what was asked last: a response may come when nothing waits for it any more.
        self._last_key = ""
        self._asked_with: dict[str, set[str]] = {}
        self._early: Counter[tuple[str, str]] = Counter()
        # Answers of this run that are empty: an API that failed looks the same, so the next run asks again.
        self._empty: set[str] = set()
        # Questions that a baseline has no answer to.
        self._none: set[str] = set()
        # Why an answer could not be noted; a model's library may take that for a failed request, and go on without it.
        self._unwritten: OSError | None = None
        self.asked = self._answers = self._unanswered = 0
        self._seconds = 0.0
        # Of all requests that the answers took, as far as they are known.
        self._usages: list[Usage] = []

    @property
    def served(self) -> list[str]:
        """The models that a server said it was, in earlier runs of these answers too."""
        return sorted({usage.served for usage in self._usages if usage.served})

    def usage(self, means: Means) -> UsageTotals:
        """Return what the answers used: tokens, finish reasons, seconds of this run, retries, and money if a price is known."""
        tries = self._watch.tries if self.asked else None
        totals = replace(
            UsageTotals.of(self._usages),
            answers=self._answers,
            unanswered=self._unanswered,
            asked_in_this_run=self.asked,
            seconds=round(self._seconds, 3),
            retries=None if tries is None else max(0, tries - self._watch.read),
        )
        return with_costs(totals, self._usages, means, lost_in(self._journal))

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answer all requests; those that the journal has no answer to go to the model together.

        Raises:
            ModelError: the model gave up; what was answered is in the journal.
            CostError: the rest would exceed the budget.
        """
        questions = list(requests_of(requests, self._identity, self._before))
        self._empty = set()
        missing, twins = self._unanswered_of(questions)
        self.asked += len(missing)
        started = time.monotonic()
        with counted("answers", len(questions), len(questions) - len(missing) - len(twins), delay=0) as self._shown:
            missing = [missing[i] for i in by_beginning([str(question.request.args[0]) for question in missing])]
            while missing:
                affordable = self._affordable(missing)
                self._generate(affordable)
                missing = missing[len(affordable) :]
            if twins:
                self._copy(questions, twins)
        self._seconds += time.monotonic() - started
        if self._empty:
            _LOGGER.warning(
                "%d of %d answers are empty and scored as such; the same command asks again",
                len(self._empty),
                len(questions),
            )
        usages = [Usage.of_json(self._journal.extra_of(question.key)) for question in questions]
        self._answers += len(questions)
        self._unanswered += len(self._empty)
        # Empty answers, which were asked again, were paid for too.
        paid = [self._journal.extras_of(question.key, question.key + EMPTY) for question in questions]
        self._usages += [Usage.of_json(usage) for noted in paid for usage in noted or [None]]
        return [
            Generated.of(
                self._journal.get(question.key, ""), NOT_APPLICABLE if question.key in self._none else usage.finish
            )
            for question, usage in zip(questions, usages, strict=True)
        ]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[Likelihood]:
        """Return the likelihood of each text; rows that the journal does not have go to the model, and are noted one by one.

        Raises:
            ModelError: the model gave up, or does not tell how likely a given text is.
            CostError: the rest would exceed the budget.
        """
        rows = list(likelihood_requests(requests, self._identity, self._before))
        read = ((row.digest, read_noted(self._journal.get(row.key), row.question)) for row in rows)
        known = {digest: noted for digest, noted in read if noted}
        missing = list({row.digest: row for row in rows if row.digest not in known}.values())
        self.asked += len(missing)
        started = time.monotonic()
        with counted("texts", len(rows), len(rows) - len(missing), delay=0) as self._shown:
            while missing:
                affordable = self._affordable(missing[:_AT_ONCE])
                for number, scored in self._scored(affordable):
                    self._keep_scored(affordable[number], scored)
                    known[affordable[number].digest] = scored.likelihoods
                missing = missing[len(affordable) :]
        self._seconds += time.monotonic() - started
        for row in rows:
            if row.key not in self._journal:
                self._note_scored(row, known[row.digest], Usage(0, 0))
        self._answers += len(rows)
        keys = [row.key for row in rows]
        self._usages += [
            Usage.of_json(usage) for key in keys for usage in self._journal.extras_of(key, key + EMPTY) or [None]
        ]
        return [likelihood for row in rows for likelihood in known[row.digest]]

    def _scored(self, rows: Sequence[LikelihoodRequest]) -> Iterator[tuple[int, Scored]]:
        self._dearest, self._last_key = dearest([row.most for row in rows]), rows[0].key
        with in_one_sentence(self._lm, self._on_request):
            yield from scorer_of(self._lm)([row.question for row in rows])

    def _keep_scored(self, row: LikelihoodRequest, scored: Scored) -> None:
        used = Usage(scored.tokens, 0)
        if self._watch.tries is not None:
            self._watch.read += len(row.question.texts)
            used = Usage(scored.tokens, len(row.question.texts))
        if self._budget:
            self._budget.settle(row.most, used)
        self._note_scored(row, scored.likelihoods, used)
        self._shown.update()

    def _note_scored(self, row: LikelihoodRequest, likelihoods: tuple[Likelihood, ...], used: Usage) -> None:
        """Note a row's likelihoods; those of a program that has no answer are left out, as its missing answers are."""
        if all(likelihood.counts for likelihood in likelihoods):
            self._write(row.key, noted_as(likelihoods), used, doc=_journaled(row.row))

    def _is_answered(self, question: PromptRequest) -> bool:
        return isinstance(self._journal.get(question.key), str)

    def _unanswered_of(
        self, questions: Sequence[PromptRequest]
    ) -> tuple[Sequence[PromptRequest], Sequence[PromptRequest]]:
        """Return the questions that are to be asked, and those that need not be: without sampling, the same prompt has the same answer. A
        short window cuts a paper's beginning and the whole of it to the same prompt.
        """
        answered = {question.digest for question in questions if self._is_answered(question)}
        missing: list[PromptRequest] = []
        twins: list[PromptRequest] = []
        for question in filterfalse(self._is_answered, questions):
            is_twin = self._once and question.digest in answered and not question.samples
            (twins if is_twin else missing).append(question)
            answered.add(question.digest)
        return missing, twins

    def _copy(self, questions: Sequence[PromptRequest], twins: Sequence[PromptRequest]) -> None:
        """Note the answers of questions that were not asked; they took no tokens."""
        keys = {question.digest: question.key for question in questions if self._is_answered(question)}
        for twin in twins:
            key = keys.get(twin.digest, "")
            finish = Usage.of_json(self._journal.extra_of(key)).finish
            self._keep(twin, str(self._journal.get(key, "")), Usage(0, 0, 0, 0, finish))

    def _affordable(self, questions: Sequence[_Asked]) -> Sequence[_Asked]:
        """Return as many of the questions as the budget allows to ask together."""
        if self._budget is None:
            return questions
        for n, question in enumerate(questions):
            try:
                self._budget.take(question.most)
            except CostError:
                if not n:
                    raise
                return questions[:n]
        return questions

    def _generate(self, questions: Sequence[PromptRequest]) -> None:
        self._waiting, self._asked_with, self._early = defaultdict(list), defaultdict(set), Counter()
        for question in questions:
            self._waiting[question.digest].append(question)
            self._asked_with[str(question.request.args[0])].add(question.digest)
        self._dearest, self._last_key = dearest([question.most for question in questions]), questions[0].key
        try:
            answers = self._ask_model([question.request for question in questions])
        finally:
            # Of whatever the library makes of it.
            if self._unwritten:
                raise self._unwritten
        # A model that does not show its answers early, or reports other prompts than it was given, has now returned
        # them all.
        for question, answer in zip(questions, answers, strict=True):
            if self._early[question.digest, answer]:
                self._early[question.digest, answer] -= 1
            elif waiting := self._waiting.get(question.digest):
                self._note(waiting.pop(0), answer, Usage(finish=str(getattr(answer, "finish", ""))))

    def _ask_model(self, requests: list[Instance]) -> list[str]:
        """Return what the model returns."""
        with in_one_sentence(self._lm, self._on_request):
            answers = list(self._lm.generate_until(requests, disable_tqdm=True))
            if len(answers) != len(requests):
                raise ModelError(f"the model gave {len(answers)} answers to {len(requests)} prompts")
            return ["" if answer is None else answer for answer in answers]

    def _on_request(self, event: RequestEvent) -> None:
        """Keep count of a request to a server, which is sent, settled or lost."""
        if self._ledger:
            getattr(self._ledger, event)(self._dearest)

    def _note_early(
        self, prompt: str, arguments: Mapping[str, object] | None, answer: str, usage: object, finish: object
    ) -> None:
        # If the arguments are not known, the prompt decides, unless it is asked with several.
        digests = self._asked_with.get(prompt, set()) if arguments is None else {digest_of(prompt, arguments)}
        digest = next(iter(digests)) if len(digests) == 1 else ""
        if waiting := self._waiting.get(digest):
            self._note(waiting[0], answer, usage if isinstance(usage, Usage) else Usage.of_response(usage, finish))
            waiting.pop(0)
            self._early[digest, answer] += 1

    def _write(self, key: str, answer: object, used: Usage, **others: object) -> None:
        """Write to the journal; what cannot be written ends the run, although the library that gave the answer may take any error for a
        failed request.
        """
        try:
            self._journal.add(key, answer, **others, usage=used.to_json())
        except OSError as err:
            self._unwritten = err
            raise

    def _note_lost(self, usage: object) -> None:
        """Note what a response without an answer was charged for, at one of the questions or rows that are under way."""
        waiting = (each.key for of_digest in self._waiting.values() for each in of_digest)
        key = next(waiting, self._last_key)
        if key:
            # What it does not say is not known to have been charged; and it is no answer by whoever served it.
            used = replace(at_most(Usage.of_response(usage, ""), Usage(0, 0)), served="")
            self._write(key + EMPTY, "", used)
            if self._budget:
                self._budget.pay(used)

    def _note(self, question: PromptRequest, answer: str, usage: Usage) -> None:
        used = _complete_usage(usage, question, answer)
        if self._budget:
            self._budget.settle(question.most, used)
            # What was not counted is kept as the most that it can have been, so that later runs count it too.
            used = at_most(used, question.most)
        self._keep(question, answer, used)

    def _keep(self, question: PromptRequest, answer: str, used: Usage) -> None:
        if used.finish == NOT_APPLICABLE:
            self._none.add(question.key)
        elif not answer.strip() and used.finish != CAPPED:
            # Asked again by the next run, but paid for.
            self._empty.add(question.key)
            self._write(question.key + EMPTY, "", used)
        else:
            self._write(question.key, answer, used, doc=_journaled(question.row))
        self._shown.update()

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> Any:
        return self._lm.apply_chat_template(chat_history, add_generation_prompt=add_generation_prompt)

    def chat_template(self, chat_template: bool | str = False) -> Any:
        return self._lm.chat_template(chat_template)

    @property
    def tokenizer_name(self) -> str:
        return str(self._lm.tokenizer_name)


def _journaled(row: PromptRow) -> dict[str, object]:
    return {**{name: getattr(row, name) for name in JOURNALED}, "own": row.short_own(asdict(row.own))}


def _complete_usage(usage: Usage, question: PromptRequest, answer: str) -> Usage:
    """Return what an engine does not say about an answer's tokens, counted with the model's tokenizer; left open without one."""
    row = question.row
    if usage.tokens_out is not None or not row.tokenizer:
        return usage
    count, reasoning = tokenizers.counts(
        row.tokenizer, [answer, take_apart(answer, row.opens, row.closes, row.begins).reasoning]
    )
    return replace(usage, tokens_in=row.tokens_after, tokens_out=count, reasoning_tokens=reasoning)
