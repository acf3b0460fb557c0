"""SCALAR and the reading core in the in-tree edition: the prompts and verdicts of our own tasks, on made-up rows."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lm_eval_tasks.families.labels import answer_of, pairs_of, set_of
from lm_eval_tasks.families.reading import prompt as reading
from lm_eval_tasks.families.reading.answering import share_right_of
from lm_eval_tasks.families.scalar import prompt as scalar
from lm_eval_tasks.families.walk.answering import f1_of
from tests.helpers.pages import ROOT
from tests.helpers.typed_rows import reading_answering, reading_row, scalar_row

PLACE = ROOT / "docs" / "upstream" / "academiceval" / "questions.py"


@pytest.fixture(scope="module")
def upstream() -> ModuleType:
    return loaded(PLACE)


def loaded(place: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("candidate_text", ["full", "concise", "body"])
def test_scalars_prompt_is_ours(upstream: ModuleType, candidate_text: str) -> None:
    texts = [
        "",
        "<Abstract>Abstract: About.</Abstract>\n\n<Content>\nAll of it.\n</Content>",
        "Plain {CANDIDATES} {PAPER}",
        "d",
    ]
    row = {
        "question": "A title\n\nAs **[MASKED_CITATION]** showed, {INDEX}.",
        "candidate_text": candidate_text,
        "candidates": [{"title": f"Work {i}", "content": text} for i, text in enumerate(texts)],
        "label": 2,
    }
    prompt = "".join(slot.text for slot in scalar.slots_of(scalar_row(**row)))
    assert upstream.scalar(row) == prompt
    for answer in (
        "<answer>2</answer>",
        "<answer>[02]</answer>",
        "<answer>1</answer> or <answer>Candidate 2</answer>",
        "2",
        "",
    ):
        assert upstream.process_scalar(row, [answer]) == {"acc": float(answer_of(answer, 4) == 2)}


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
    ("task", "kind", "works"), [("walk", "same_paragraph", 2), ("walk", "introduction", 1), ("next", "following", 0)]
)
def test_prompts_over_many_papers_are_ours(upstream: ModuleType, task: str, kind: str, works: int) -> None:
    text = "=== not a mark ===\nOne [7] two [8]. {QUESTION} A line about {COUNT} things, and so on."
    texts = {("Papers", f"p{i}"): f"{i} {text}" for i in range(3)}
    edits = [{"start": 5, "end": 9, "text": "[cite]"}, {"start": 12, "end": 12, "text": "!"}]
    row: dict[str, Any] = {
        "id": "q",
        "kind": kind,
        "papers": [{"id": f"p{i}", "texts": "Papers"} for i in range(3)],
        "parts": [{"paper": i, "start": i, "end": 60, "edits": edits if i == 1 else []} for i in (2, 0, 1)],
        "parts_version": 1,
        "labels": 3,
        "works": [{"title": f'The "{name}" work'} for name in "AB"[:works]],
        "asked": [1, 3] if task == "next" else [],
        "answer": [2, 1],
    }
    assert upstream._prompt(task, row, texts) == "".join(
        reading.prompt_of(reading_row(**row), texts, reading_answering(task))
    )
    with pytest.raises(ValueError, match="way 2"):
        upstream._prompt(task, {**row, "parts_version": 2}, texts)


def test_answers_are_read_alike(upstream: ModuleType) -> None:
    rng = random.Random(5)
    labels = ["Paper 1", "Paper 2", "3", "Passage 12", "[7]", "none", "`Paper 4`"]
    for _ in range(300):
        chosen = rng.choices(labels, k=rng.randint(0, 4))
        text = rng.choice(("So: ", "see [3]. ", "")) + rng.choice(
            (json.dumps(chosen), ", ".join(chosen), "[]", f"[{', '.join(chosen)}]")
        )
        named = set_of(text)
        right = sorted(set(rng.choices(range(1, 5), k=rng.randint(0, 3))))
        expected = (0.0, 0.0) if named is None else (float(set(named) == set(right)), f1_of(named, right))
        scores = upstream.process_walk({"answer": right}, [text])
        assert (scores["exact"], scores["set_f1"]) == pytest.approx(expected), text
        pairs = "{" + ", ".join(f'"Passage {rng.randint(1, 4)}": "Passage {rng.randint(1, 4)}"' for _ in range(3)) + "}"
        asked = [1, 2]
        found = share_right_of(pairs_of(pairs) or {}, asked, [3, 4])
        assert upstream.process_next({"asked": asked, "answer": [3, 4]}, [pairs])["share_right"] == found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "upstream" / "academiceval" / "prompts").glob("*.txt")), ids=lambda path: path.stem
)
def test_no_prompt_ends_in_white_space(path: Path) -> None:
    """lm-eval's own checks refuse it; a part that others follow may."""
    text = path.read_text(encoding="utf-8")
    assert text == text.rstrip() or path.stem in ("scalar_candidate", "walk_questions")
