"""Models that need no weights: what a score is worth is its distance from theirs."""

from __future__ import annotations

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Generated
from lm_eval_tasks.samples.row import PromptRow


class BaselineLM(LM):  # type: ignore[misc]
    """A baseline as an lm-eval model; the tasks must be loaded with the metadata `keep_parts`.

    Args:
        name: a key of `BASELINES`.
    """

    tokenizer_name = ""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        answers = (self._answer(PromptRow.of_doc(request.doc), request.args[0]) for request in requests)
        # The empty text stands for an answer that a baseline does not have.
        return [Generated.of(text or "", "stop" if text is not None else NOT_APPLICABLE) for text in answers]

    def _answer(self, row: PromptRow, prompt: str) -> str | None:
        family = row.family
        if self.name not in family.baselines:
            return None
        if family.board == "writing" and row.content is None:
            raise EvalError(
                f"the baseline {self.name} reads the body itself: load the tasks with metadata keep_parts=True"
            )
        return answering_of(row.task).baseline(self.name, row, prompt)

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError("the baselines only generate")

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError("the baselines only generate")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return chat_history[-1]["content"]
