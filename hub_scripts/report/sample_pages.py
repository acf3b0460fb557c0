"""One file for each sample's page: the row, the prompts and the answers of all models, without texts that may not be shown."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builder.ids import url_of
from builder.round.allowed import allows
from lm_eval_tasks.base.contract import LIKELIHOOD, Licenses
from lm_eval_tasks.base.word_runs import run_words, share_run
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import Sample

# How many words in a row of a withheld text an answer may repeat.
MOST_COPIED = 25
# In place of an answer.
_NO_TEXT = "The model wrote no text: the likelihood of the authors' text was measured."
_LONGEST_WORD = 20


@dataclass(slots=True)
class SamplePage:
    """One sample of a setting, as its models answered it."""

    row: PromptRow
    answers: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, model: str, sample: Sample, verdicts: Mapping[str, Any]) -> None:
        """Note a model's answer; the prompt is kept once for all models that saw the same."""
        row = sample.row
        prompt = {
            "tokens_before": row.tokens_before,
            "tokens_after": row.tokens_after,
            "cut": {component: tokens for component, tokens in row.cuts.items() if tokens},
            "slots": [slot.to_json() for slot in row.excerpts()],
        }
        if prompt not in self.prompts:
            self.prompts.append(prompt)
        self.answers.append(
            {
                "model": model,
                "answer": sample.answer or _NO_TEXT * (row.way == LIKELIHOOD),
                "scores": {name: round(value, 4) for name, value in sample.scores.items()},
                "verdicts": verdicts,
                "prompt": self.prompts.index(prompt),
            }
        )

    def write(self, path: Path, name: str, licenses: Licenses) -> int:
        """Write the page's data and return how many of its answers are withheld.

        Args:
            name: under which the page asks for it.
        """
        content: dict[str, Any] = {**_facts(self.row), "answers": self.answers, "prompts": self.prompts}
        # Samples that do not give the licences of demonstrations show none of their text.
        if not all(allows(license_, licenses) for license_ in self.row.licenses or ("unknown",)):
            content |= self._withheld()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(f"sample:{name}", content), encoding="utf-8")
        return sum(answer["answer"] is None for answer in content["answers"])

    def _withheld(self) -> dict[str, Any]:
        """Leave out the texts, and of the answers those that repeat much of them."""
        slots = [slot for prompt in self.prompts for slot in prompt["slots"]]
        excerpts = [slot.get(end, "") for slot in slots for end in ("head", "tail")]
        texts = [self.row.target, *excerpts]
        answers = [
            {**answer, "answer": None} if not self._is_labels(answer["answer"]) and copies(answer, texts) else answer
            for answer in self.answers
        ]
        return {"target": None, "answers": answers, "prompts": list(map(_without_texts, self.prompts))}

    def _is_labels(self, answer: str) -> bool:
        """Tell whether an answer is what was read of it, labels alone, which repeat no text."""
        row = self.row
        return target_of(row.task).refine is None and answering_of(row.task).refine(answer, row) == answer


def _facts(row: PromptRow) -> dict[str, Any]:
    about = {
        "id": row.id,
        "url": None if row.made_up else url_of(row.paper),
        "paper_id": row.paper_id,
        "title": row.title,
        "published": row.published,
        "license": row.license,
        "licenses": None if row.licenses is None else list(row.licenses),
        "target": row.target,
        "prompt_name": row.prompt_name,
    }
    return {key: value for key, value in about.items() if value is not None}


def copies(answer: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """Tell whether an answer shows too much of some texts, the target and what there is of the prompt, to be redistributed. Runs with the
    whole prompt were measured when the answer was scored; if they were not, they count as long.
    """
    words = run_words(answer["answer"])
    if len(words) <= MOST_COPIED:
        # A text in a script without spaces is one word.
        return len(answer["answer"]) > _LONGEST_WORD * (MOST_COPIED + 1)
    runs = [answer["scores"].get(name, math.inf) for name in ("copied_from_input", "copied_from_demonstrations")]
    return max(runs) > MOST_COPIED or any(share_run(words, run_words(text), MOST_COPIED + 1) for text in texts)


def _without_texts(prompt: Mapping[str, Any]) -> dict[str, Any]:
    slots = [{name: value for name, value in slot.items() if name not in ("head", "tail")} for slot in prompt["slots"]]
    return {**prompt, "slots": slots}


def script(name: str, data: object) -> str:
    """Write data as a script that hands it over: what a page opened from disk may load, unlike a JSON file."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"academiceval({json.dumps(name)},{text});\n"
