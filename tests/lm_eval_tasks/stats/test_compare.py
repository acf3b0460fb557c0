"""Runs against each other: paired differences of each task, and of the boards."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.intervals import holm
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.sample import by_task, read
from lm_eval_tasks.stats.compare import Run, compare, names_of, runs_of
from lm_eval_tasks.stats.scores import score_table
from standins.places import table_beside
from tests.helpers.pages import ROOT
from tests.helpers.samples import sample
from tests.helpers.served import Command

FLOOR = 0.2
METRIC = "rouge_l_content"
SETTINGS = {"Abs-9K": "abs_short", "Title-10K": "title_short"}


def write(folder: Path, better: float, settings: tuple[str, ...] = tuple(SETTINGS), n: int = 40) -> Path:
    """A run over the same papers as all others, better than the first by so much."""
    folder.mkdir(parents=True)
    for setting in settings:
        common, own = random.Random(setting), random.Random(f"{setting} {better}")
        lines = []
        for i in range(n):
            score = 0.4 + common.gauss(0, 0.05) + better + own.gauss(0, 0.01)
            scores = {METRIC: score, "rouge_l": score, "rouge_l_content_wrong_paper": FLOOR}
            doc = sample(f"p{i}", f"Author {i}", {}, setting=setting, prompt_name=SETTINGS[setting]).row.to_doc()
            lines.append(json.dumps({"doc": doc, "filtered_resps": [ScoredAnswer("x", scores).to_text()]}) + "\n")
        (folder / f"samples_{setting}_{folder.name}.jsonl").write_text("".join(lines))
    return folder


def test_the_board_is_the_mean_over_tasks_between_floor_and_one(tmp_path: Path) -> None:
    differences = compare(runs_of([write(tmp_path / "a", 0.0), write(tmp_path / "b", 0.08)]))
    assert [(one.task, one.metric) for one in differences if one.of_board] == [
        ("Writing board: Title-10K, Abs-9K", METRIC)
    ]
    *by_task, board = differences
    means = [one.difference.mean for one in by_task if one.metric == METRIC]
    assert len(means) == 2
    assert board.difference.mean == pytest.approx(sum(means) / 2 / (1 - FLOOR))
    assert board.difference.low is not None and board.difference.high is not None
    assert board.difference.low < 0.1 < board.difference.high
    assert (board.difference.samples, board.difference.clusters, board.sizes) == (80, 40, (80, 80))


def test_several_runs_are_compared_pair_by_pair_and_corrected_together(tmp_path: Path, command: Command) -> None:
    runs = [write(tmp_path / name, better) for name, better in (("a", 0.0), ("b", 0.08), ("c", 0.081))]
    differences = compare(runs_of(runs), [METRIC])
    pairs = list(dict.fromkeys(one.runs for one in differences))
    assert pairs == [(runs[0], runs[1]), (runs[0], runs[2]), (runs[1], runs[2])]
    assert [one.corrected_p for one in differences] == holm([one.difference.p or 0.0 for one in differences])
    code, out, err = command("compare", *runs)
    assert code == 0, err
    assert [f"{second} - {first}" in out for first, second in ("ab", "ac", "bc")] == [True] * 3


def test_rows_without_a_place_between_floor_and_one_are_planned_for(tmp_path: Path) -> None:
    """As many comparisons as `plan` counts, whether or not a board has floors to stand on."""
    runs = [write(tmp_path / name, better) for name, better in (("a", 0.0), ("b", 0.005))]
    with_board = compare(runs_of(runs), [METRIC])
    for file in [file for run in runs for file in run.iterdir()]:
        file.write_text(file.read_text().replace("rouge_l_content_wrong_paper", "rouge_l_of_nothing"))
    without = compare(runs_of(runs), [METRIC])
    assert (len(with_board), len(without)) == (3, 2)
    assert [one.detectable for one in without] == [one.detectable for one in with_board[:2]]
    assert max(one.corrected_p or 0 for one in without) >= 2 * min(one.difference.p or 0 for one in without)


def test_what_only_some_runs_have_is_named(tmp_path: Path, command: Command) -> None:
    runs = [write(tmp_path / "a", 0.0), write(tmp_path / "b", 0.1, ("Abs-9K",)), write(tmp_path / "c", 0.2)]
    code, out, err = command("compare", *runs)
    assert code == 0, err
    assert "Title-10K: only 2 of the 3 runs have it" in out
    code, _, err = command("compare", runs[0])
    assert (code, "nothing to be compared with" in err) == (1, True)
    [cut] = runs[0].glob("samples_Title*")
    cut.write_text(cut.read_text().replace('"tokens_cut": 0', '"tokens_cut": 9'))
    code, out, err = command("compare", runs[0], runs[2], "--uncut")
    assert (code, f"left out: {METRIC} of Title-10K, which no sample has in both" in out) == (0, True), out + err


def test_two_tasks_of_one_run_may_ask_the_same(tmp_path: Path) -> None:
    run = write(tmp_path / "a", 0.0)
    [file] = run.glob("samples_Abs*")
    second, results = shutil.copy(file, run / "samples_tiny_a.jsonl"), run / "results_a.json"
    with pytest.raises(SamplesError, match="a second answer"):
        read([file, second])
    results.touch()
    assert len(read([file, second])) == 40
    results.unlink()


def test_what_is_saved_is_not_mixed_over_formats() -> None:
    def run(**bits: float) -> Run:
        how = {"setting": "Abs-9K", "prompt_name": "abs_short", "way": "likelihood", "of_family": {"words": 3}}
        return by_task(
            sample(f"p{i}", f"a{i}", {"bits_per_byte": value}, shown=name[4:], chat=name[:4] == "chat", **how)
            for name, value in bits.items()
            for i in range(12)
        )

    plain = run(bareother=1.0, barestart=0.8)
    mixed = run(bareother=1.0, barestart=0.7, chatother=2.0, chatstart=1.0)
    saved = [one for one in compare({Path("a"): plain, Path("b"): mixed}) if one.metric == "bits saved per byte"]
    assert [round(one.difference.mean, 3) for one in saved] == [0.1]


@pytest.mark.parametrize(("runs", "names"), table_beside(__file__, "runs_called.json"))
def test_runs_are_called_by_what_tells_them_apart(runs: list[str], names: list[str]) -> None:
    assert [*names_of([Path(run) for run in runs]).values()] == names


def test_a_task_whose_every_score_failed_is_named() -> None:
    score = Score("m", "academiceval_abs_9k", "truncated", 0.0, None, None, 3)
    first = next(iter(score_table([score])))
    assert "academiceval_abs_9k" in first


def test_two_installations_are_told_apart_at_the_first_stage_that_differs(tmp_path: Path, command: Command) -> None:
    """The run in the docs, against itself, then against one whose third answer and chat template are others."""
    anchor = ROOT / "docs" / "results" / "anchor"
    shutil.copytree(anchor, tmp_path / "mine" / "2026-11-01T00-00-00")
    code, out, err = command("compare", anchor, tmp_path / "mine")
    assert code == 0, err
    assert "equal are prompts 20, tokens of prompts 20, answers 20, scores 20" in out
    [samples], [results] = (list((tmp_path / "mine").rglob(f"{kind}_*")) for kind in ("samples", "results"))
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    lines[2]["filtered_resps"][0] = lines[2]["filtered_resps"][0].replace('"answer": "', '"answer": "So, ')
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    content = json.loads(results.read_text())
    content["academiceval"]["files"] = {samples.name: sha256_of(samples)}
    content["academiceval"]["made_with"]["chat_template"] = "0" * 64
    results.write_text(json.dumps(content))
    code, out, err = command("compare", anchor, tmp_path / "mine")
    assert code == 0, err
    assert "differs: chat template." in out
    assert "equal are prompts 20, tokens of prompts 20, answers 19, scores 20" in out
