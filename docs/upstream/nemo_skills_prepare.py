"""SCALAR for NeMo-Skills: save this as `nemo_skills/dataset/academiceval_scalar/prepare.py`, run it, and evaluate.

  python prepare.py --dataset ORG/academiceval --revision 2026.11
  ns eval --benchmarks academiceval_scalar ...

It writes `test.jsonl`, a line for each question of all levels, and `__init__.py` beside it. The model names a letter; answers are read by
NeMo-Skills' own rule for multiple choice. Prompts are not cut: the model's context must hold the longest.
"""

import argparse
import json
from pathlib import Path

from datasets import load_dataset

LEVELS = ("SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard")
SETTINGS = """\
METRICS_TYPE = "multichoice"
EVAL_SPLIT = "test"
GENERATION_ARGS = "++prompt_config=generic/default ++eval_type=multichoice"
"""
PROMPT = """\
You are given a paper with a placeholder "**[MASKED_CITATION]**" in its content. Your task is to select the most appropriate reference \
from the provided reference list to replace the mask. The paper content is enclosed within <Paper> and </Paper>, the reference list \
within <References> and </References>.

<Paper>

{question}</Paper>

<References>
{choices}
</References>
Write the letter of the selected reference on the last line, in the form 'Answer: A'."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="folder or Hub id")
    parser.add_argument("--revision")
    parser.add_argument("--output", type=Path, default=Path(__file__).absolute().parent)
    arguments = parser.parse_args()
    (arguments.output / "__init__.py").write_text(SETTINGS, encoding="utf-8")
    with (arguments.output / "test.jsonl").open("w", encoding="utf-8") as file:
        for level in LEVELS:
            for row in load_dataset(arguments.dataset, level, revision=arguments.revision, split="test"):
                file.write(json.dumps(line_of(row, level)) + "\n")


def line_of(row, level):
    choices = "\n".join(f"{letter}) {text}" for letter, text in zip("ABCD", row["choices"], strict=True))
    prompt = PROMPT.format(choices=choices, question=row["question"])
    return {
        "id": row["id"],
        "question": prompt,
        "problem": prompt,
        "expected_answer": row["target"],
        "subset_for_metrics": level,
    }


if __name__ == "__main__":
    main()
