"""Models that need no weights: baselines, whose distance from a score says what it is worth."""

from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.compat.scored_texts import Question, Scored
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Generated
from lm_eval_tasks.samples.prompt_row import PromptRow


class GeneratingLM(LM):  # type: ignore[misc]
    """A model whose likelihoods are not asked by lm-eval itself."""

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        raise NotImplementedError("likelihoods are asked token by token")

    loglikelihood_rolling = loglikelihood


class BaselineLM(GeneratingLM):
    """A baseline, one of `BASELINES`, as an lm-eval model; the tasks must be loaded with the metadata `keep_parts`."""

    tokenizer_name = ""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        answers = (self._answer(PromptRow.of_doc(request.doc), request.args[0]) for request in requests)
        # The empty text stands for an answer that a baseline does not have.
        return [Generated.of(text or "", "stop" if text is not None else NOT_APPLICABLE) for text in answers]

    def likelihoods_of(self, question: Question) -> Scored:
        """Return the likelihoods that the program's bits for the texts stand for; without any it has no answer."""
        answering = answering_of(question.task)
        known = (answering.by_program(self.name, question.prompt, text) for text in question.texts)
        return Scored(tuple(each or Likelihood((), ()) for each in known), 0)

    def _answer(self, row: PromptRow, prompt: str) -> str | None:
        if self.name not in row.family.baselines:
            return None
        return answering_of(row.task).baseline(self.name, row, prompt)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return chat_history[-1]["content"]
