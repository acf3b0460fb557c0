"""Judges' verdicts stand beside the answers that they are about, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hub_scripts.errors import ReportError
from hub_scripts.report.gather import points_by_judge
from hub_scripts.report.inputs import find
from lm_eval_tasks.judge.verdict import OVERALL, texts_hash
from lm_eval_tasks.judge.win_rates import summary
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.sample import read
from tests.helpers.samples import sample

WON, LOST = [{OVERALL: 1}, {OVERALL: 2}], [{OVERALL: 2}, {OVERALL: 1}]


def _samples(folder: Path, round_: str, answer: str, name: str = "m") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    row = sample("2601.00001v1", "A", {}, round_, target="the target").row.to_doc()
    line = {"doc": row, "filtered_resps": [ScoredAnswer(answer, {"rouge_l": 0.2}).to_text()]}
    (folder / f"samples_abs_{name}.jsonl").write_text(json.dumps(line) + "\n")


def _judge(path: Path, round_: str, verdicts: dict[str, Any], answer: str | None, target: str = "the target") -> None:
    texts = {} if answer is None else {"texts": {"Abs-9K": {"2601.00001v1": texts_hash(answer, target)}}}
    content = {"judged_model": "m", "round": round_, "verdicts": {"Abs-9K": {"2601.00001v1": verdicts}}, **texts}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def _shown(place: Path) -> dict[str, dict[str, float]]:
    """Round -> what the sample gets from each judge."""
    inputs = find([place])
    samples = [one for path in sorted(place.glob("*/m")) for one in read([path])]
    return {one.row.round: points_by_judge(inputs.verdicts.of("m", one)) for one in samples}


def test_two_rounds_have_their_own_verdicts(tmp_path: Path) -> None:
    for round_ in ("2026.10", "2026.11"):
        _samples(tmp_path / round_ / "m", round_, "an answer")
    _judge(tmp_path / "2026.10" / "judged" / "judge_m.json", "2026.10", {"j": WON}, "an answer")
    assert _shown(tmp_path) == {"2026.10": {"j": 1}, "2026.11": {}}
    _judge(tmp_path / "2026.11" / "judged" / "judge_m.json", "2026.11", {"j": LOST}, "an answer")
    assert _shown(tmp_path) == {"2026.10": {"j": 1}, "2026.11": {"j": 0}}


def test_two_files_of_judges_are_shown_together(tmp_path: Path) -> None:
    _samples(tmp_path / "r" / "m", "2026.11", "an answer")
    _judge(tmp_path / "a" / "judge_m.json", "2026.11", {"j": WON}, "an answer")
    _judge(tmp_path / "b" / "judge_m.json", "2026.11", {"k": LOST}, "an answer")
    assert _shown(tmp_path) == {"2026.11": {"j": 1, "k": 0}}


@pytest.mark.parametrize(
    ("answer", "target", "says"),
    [
        ("another answer", "the target", "1 verdicts are about other answers than those given here"),
        ("an answer", "another target", "1 verdicts are about other answers than those given here"),
        (None, "", "does not say which texts 1 verdicts on Abs-9K are about"),
    ],
)
def test_verdicts_on_other_texts_are_not_shown(
    answer: str | None, target: str, says: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _samples(tmp_path / "r" / "m", "2026.11", "an answer")
    _judge(tmp_path / "judge_m.json", "2026.11", {"j": WON}, answer, target)
    assert _shown(tmp_path) == {"2026.11": {}}
    inputs = find([tmp_path])
    for one in read([tmp_path / "r" / "m"]):
        inputs.verdicts.of("m", one)
    inputs.verdicts.warn_of_others()
    assert says in caplog.text


def test_verdicts_on_a_labelled_run_are_its_own(tmp_path: Path) -> None:
    for run in ("old", "new"):
        _samples(tmp_path / run / "m", "2026.11", "an answer")
    _judge(tmp_path / "new" / "judge_m.json", "2026.11", {"j": WON}, "an answer")
    verdicts = find([tmp_path], {"Mine": tmp_path / "new"}).verdicts
    [answer] = read([tmp_path / "new" / "m"])
    shown = [points_by_judge(verdicts.of(model, answer)) for model in ("Mine", "m")]
    assert shown == [{"j": 1}, {}]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReportError, match="contains no run"):
        find([tmp_path], {"Mine": tmp_path / "empty"})


def test_all_judges_of_two_models_are_shown_and_all_folders_with_labels(tmp_path: Path) -> None:
    for name in ("m", "n"):
        _samples(tmp_path / name / "x", "2026.11", "an answer", name)
    figures = {"judges": {}, "judged_model": "m", "against": "n", "round": "2026.11"}
    for judge in ("j", "k"):
        task = {"Abs-9K": {judge: summary([])}}
        (tmp_path / "m" / f"judge_{judge}.json").write_text(json.dumps({**figures, "tasks": task}))
    inputs = find([tmp_path / "m"], {"outer": tmp_path / "m", "inner": tmp_path / "m" / "x", "other": tmp_path / "n"})
    assert {file.model for file in inputs.samples} == {"inner", "other"}
    [shown] = inputs.duels.values()
    assert [row[1] for row in shown.rows] == ["j", "k"]
