"""Answers that were made elsewhere, from exported prompts: a model that looks each up by the row that it is about."""

from __future__ import annotations

from pathlib import Path

from lm_eval.api.instance import Instance

from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.row_format import GIVEN
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.evaluate.baselines import BaselineLM
from lm_eval_tasks.samples.answers import Generated
from lm_eval_tasks.samples.row import PromptRow


class GivenAnswersLM(BaselineLM):
    """The answers of a file: JSON lines with `id`, `row_hash` and `answer`, as `academiceval export` names the rows.

    Raises:
        ModelError: it cannot be read, or has two answers to a row.
    """

    def __init__(self, file: str) -> None:
        super().__init__(GIVEN)
        self._file = file
        # Id and hash of a row -> its answer.
        self._answers: dict[tuple[str, str], str] = {}
        try:
            lines = Path(file).read_text(encoding="utf-8-sig").split("\n")
        except (OSError, ValueError) as err:
            raise ModelError(f"--model_args {GIVEN}=FILE: {file or 'no file'} cannot be read ({err})") from err
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._add(line, f"line {number} of {file}")

    def _add(self, line: str, where: str) -> None:
        try:
            entry = parse_json(line)
            id_, row_hash, answer = (entry[name] for name in ("id", "row_hash", "answer"))
            if not all(isinstance(value, str) for value in (id_, row_hash, answer)):
                raise TypeError("a value that is no text")
        except ODD as err:
            raise ModelError(f"{where} is no object with the texts id, row_hash and answer ({err})") from err
        if (id_, row_hash) in self._answers:
            raise ModelError(f"{where} is a second answer to {id_}")
        self._answers[id_, row_hash] = answer

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        rows = [PromptRow.of_doc(request.doc) for request in requests]
        if lacking := [row for row in rows if (row.id, row.row_hash) not in self._answers]:
            known = any(id_ == lacking[0].id for id_, _ in self._answers)
            raise ModelError(
                f"{self._file} has no answer to {len(lacking)} of {len(rows)} rows, first {lacking[0].id}"
                f"{': its answer is to a row with other contents' if known else ''}; export and answer the prompts of this dataset, or "
                "score a part with --limit or --samples"
            )
        return [Generated.of(self._answers[row.id, row.row_hash], "") for row in rows]
