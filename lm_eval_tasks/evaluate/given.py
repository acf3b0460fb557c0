"""Answers that were made elsewhere, as a model of lm-eval."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance

from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.text import parse_json, valid
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.evaluate.baselines import BaselineLM
from lm_eval_tasks.samples.answers import Generated
from lm_eval_tasks.samples.prompt_row import PromptRow


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """One answer, and the prompt that it is to, as the exported line names it.

    Attributes:
        options: how the prompt was made, see `exported.prompt_options`.
        messages: what was asked, if the line still says it.
    """

    id: str
    row_hash: str
    prompt_hash: str
    answer: str
    setting: str
    options: dict[str, object] = field(default_factory=dict)
    messages: list[dict[str, str]] | None = None


def given_answers(file: Path) -> list[GivenAnswer]:
    """Read the answers of a file: JSON lines, each an exported line with `answer`.

    Raises:
        ModelError: it cannot be read, or a prompt has two answers.
    """
    answers: dict[tuple[str, str], GivenAnswer] = {}
    for where, answer in _read_answers(file):
        key = (answer.setting, answer.id)
        if key in answers:
            raise ModelError(f"{where} is a second answer to {answer.setting} {answer.id}: give one to each prompt")
        answers[key] = answer
    return list(answers.values())


def _read_answers(file: Path) -> Iterator[tuple[str, GivenAnswer]]:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as err:
        raise ModelError(f"the answers in {file} cannot be read ({err})") from err
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number} of {file}"
        try:
            yield where, typed(GivenAnswer, _parsed(line))
        except ValueError as err:
            raise ModelError(
                f"{where} is no exported line with an answer ({err}): keep id, row_hash, prompt_hash, setting and options of the line, and "
                "add answer"
            ) from err


def _parsed(line: str) -> Any:
    """Parse a line; half of a character, which JSON can spell and a model may write, is replaced."""
    try:
        return parse_json(line)
    except UnicodeEncodeError:
        return parse_json(valid(json.dumps(json.loads(line), ensure_ascii=False)))


class GivenAnswersLM(BaselineLM):
    """The answers of a file, each given only to the prompt that it was made for; a ModelError if the file cannot be read."""

    def __init__(self, file: str) -> None:
        super().__init__(GIVEN)
        self._file = Path(file)
        self._answers = {(answer.setting, answer.id): answer for answer in given_answers(self._file)}

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Give the answers.

        Raises:
            ModelError: a prompt has none, or one that was made for another prompt.
        """
        rows = [PromptRow.of_doc(request.doc) for request in requests]
        lacking = [row for row in rows if (row.setting, row.id) not in self._answers]
        if lacking:
            raise ModelError(
                f"{self._file} has no answer to {len(lacking)} of {len(rows)} rows, first {lacking[0].setting} {lacking[0].id}; export "
                "and answer the prompts of this dataset, or score a part with --limit"
            )
        return [self._answer_to(row, request) for row, request in zip(rows, requests, strict=True)]

    def _answer_to(self, row: PromptRow, request: Any) -> str:
        given: GivenAnswer = self._answers[row.setting, row.id]
        if given.row_hash != row.row_hash:
            what = "a row with other contents: the dataset was built again since"
        elif given.prompt_hash != sha256_of_bytes(str(request.args[0])):
            what = "another prompt than its options give here"
        elif given.messages is not None and [one.get("content") for one in given.messages] != [str(request.args[0])]:
            what = "other messages than the prompt that its hash names"
        else:
            return Generated.of(given.answer, "")
        raise ModelError(
            f"the answer to {given.setting} {given.id} in {self._file} is to {what}; export the prompts again and answer those"
        )
