"""Models that need no weights: baselines, whose distance from a score says what it is worth, and answers that were made elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.text import parse_json
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Generated
from lm_eval_tasks.samples.prompt_row import PromptRow


class GeneratingLM(LM):  # type: ignore[misc]
    """A model that is only asked to generate, as all our tasks do."""

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        raise NotImplementedError("the tasks only generate")

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

    def _answer(self, row: PromptRow, prompt: str) -> str | None:
        if self.name not in row.family.baselines:
            return None
        return answering_of(row.task).baseline(self.name, row, prompt)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return chat_history[-1]["content"]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer, and the row that it is to.

    Attributes:
        setting: "" if the line does not say it.
        shown: the shorter context that was shown, "" for all of it.
    """

    id: str
    row_hash: str
    answer: str
    setting: str = ""
    shown: str = ""


def given_answers(file: str) -> Iterator[GivenAnswer]:
    """The answers of a file: JSON lines with `id`, `row_hash` and `answer`, as `academiceval export` names the rows.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as err:
        raise ModelError(f"the answers in {file or 'no file'} cannot be read ({err})") from err
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield typed(GivenAnswer, parse_json(line))
        except ValueError as err:
            raise ModelError(
                f"line {number} of {file} is no object with the texts id, row_hash, answer and setting ({err})"
            ) from err


class GivenAnswersLM(BaselineLM):
    """The answers of a file, see `given_answers`; a ModelError if it cannot be read, or has two answers to a row."""

    def __init__(self, file: str) -> None:
        super().__init__(GIVEN)
        self._file = file
        # Id and hash of a row -> its answer.
        self._answers: dict[tuple[str, str], str] = {}
        for given in given_answers(file):
            if (given.id, given.row_hash) in self._answers:
                raise ModelError(f"{file} has a second answer to {given.id}")
            self._answers[given.id, given.row_hash] = given.answer

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        rows = [PromptRow.of_doc(request.doc) for request in requests]
        if lacking := [row for row in rows if (row.id, row.row_hash) not in self._answers]:
            known = any(id_ == lacking[0].id for id_, _ in self._answers)
            raise ModelError(
                f"{self._file} has no answer to {len(lacking)} of {len(rows)} rows, first {lacking[0].id}"
                f"{': its answer is to a row with other contents' if known else ''}; export and answer the prompts of this dataset, or "
                "score a part with --limit"
            )
        return [Generated.of(self._answers[row.id, row.row_hash], "") for row in rows]
