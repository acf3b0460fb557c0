"""The script for other harnesses asks SCALAR as we do; `tests/lm_eval_tasks/evaluate/test_labs.py` holds it to the reading families."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_tasks.families.scalar import prompt as scalar
from lm_eval_tasks.families.scalar.answering import _strict_answer_of
from tests.helpers.pages import ROOT
from tests.helpers.typed_rows import scalar_row


@pytest.mark.parametrize("shown", ["full", "body"])
def test_the_script_for_other_harnesses_asks_scalar_as_we_do(shown: str, tmp_path: Path) -> None:
    works = [{"title": f"Work {i}", "content": f"About {i}, {{PAPER}}." * (i > 0)} for i in range(3)]
    row = {"question": "A **[MASKED_CITATION]** {INDEX}.", "candidate_text": shown, "candidates": works, "label": 2}
    said = {
        "right": "<answer>1</answer> no: <answer>2</answer>",
        "wrong": "<answer>0</answer>",
        "bare": "2",
        "none": "",
    }
    (tmp_path / "round").mkdir()
    for name, lines in (
        ("round/test.jsonl", [{"id": id_, **row} for id_ in said]),
        ("answers.jsonl", [{"id": id_, "answer": answer} for id_, answer in said.items()]),
    ):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    card = "---\nconfigs:\n- config_name: SCALAR\n  data_files:\n  - split: test\n    path: test.jsonl\n---\n"
    (tmp_path / "round" / "README.md").write_text(card)
    script = [sys.executable, ROOT / "docs" / "portable.py", "round", "SCALAR", "answers.jsonl"]
    # Copies that `datasets` keeps of files whose names have no hash may be those of another folder.
    env = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    out = subprocess.run(script, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
    prompt = "".join(slot.text for slot in scalar.slots_of(scalar_row(**row)))
    assert list(map(json.loads, out.splitlines())) == [
        {"id": id_, "prompt": prompt, "score": float(id_ == "right")} for id_ in said
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<answer>3</answer>",
        "<answer> 3 </answer>",
        "<answer>Index 3</answer>",
        "<answer>1</answer> or <answer>3</answer>",
        "<answer>3</answer> <answer>",
        "<answer>3",
        "<answer>\n3</answer>",
        "<answer>three</answer>",
        "3",
    ],
)
def test_the_script_reads_scalars_tags_as_our_strict_score(text: str) -> None:
    script = (ROOT / "docs" / "portable.py").read_text()
    in_tag = eval(re.search(r"^in_tag = (r\".*\")$", script, re.MULTILINE)[1])  # type: ignore[index]
    ours = _strict_answer_of(text)
    assert re.findall(in_tag, text) == ([ours] if ours.isdecimal() else [])
