"""The one door to a run: results folders that somebody edited, through all commands that read them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.families.score import SCORER
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.stats.opened import open_run
from standins.runs import evaluated, relist, rewrite
from tests.helpers.served import Command

pytestmark = pytest.mark.slow

Lines = list[dict[str, Any]]
TASK = "academiceval_abs_9k"


def _scored(line: dict[str, Any], **scores: float) -> None:
    scored = json.loads(line["filtered_resps"][0])
    scored["scores"] |= scores
    line["filtered_resps"] = [json.dumps(scored)]
    line.update({name: value for name, value in scores.items() if name in line})


def swap_answers(lines: Lines, rng: random.Random) -> None:
    one, other = rng.sample(lines, 2)
    for field in ("resps", "filtered_resps"):
        one[field], other[field] = other[field], one[field]


def swap_docs(lines: Lines, rng: random.Random) -> None:
    one, other = rng.sample(lines, 2)
    one["doc"], other["doc"] = other["doc"], one["doc"]


def edit_score(lines: Lines, rng: random.Random) -> None:
    _scored(rng.choice(lines), rouge_l_content=0.99, rouge_l=0.99)


def edit_answer(lines: Lines, rng: random.Random) -> None:
    line = rng.choice(lines)
    line["resps"] = [[line["doc"]["target"]]]


def edit_target(lines: Lines, rng: random.Random) -> None:
    line = rng.choice(lines)
    line["doc"]["target"] = line["resps"][0][0]


def duplicate(lines: Lines, rng: random.Random) -> None:
    lines[:] = [rng.choice(lines)] * len(lines)


def truncate(lines: Lines, rng: random.Random) -> None:
    del lines[rng.randrange(1, len(lines)) :]


def huge(lines: Lines, rng: random.Random) -> None:
    _scored(rng.choice(lines), rouge_l_content=1e300)


def other_round(lines: Lines, rng: random.Random) -> None:
    rng.choice(lines)["doc"]["round"] = "2026.10"


def drop_a_score(lines: Lines, rng: random.Random) -> None:
    line = rng.choice(lines)
    scored = json.loads(line["filtered_resps"][0])
    line["filtered_resps"] = [json.dumps({**scored, "scores": {}})]


OF_SAMPLES = (
    swap_answers,
    swap_docs,
    edit_score,
    edit_answer,
    edit_target,
    duplicate,
    truncate,
    huge,
    other_round,
    drop_a_score,
)


def edit_value(text: str, rng: random.Random) -> str:
    content = json.loads(text)
    score = rng.choice(content["academiceval"]["scores"])
    score["value"] = score["low"] = score["high"] = 0.99
    for name in content["results"][score["task"]]:
        if name.startswith(f"{score['metric']},"):
            content["results"][score["task"]][name] = 0.99
    return json.dumps(content)


def edit_interval(text: str, rng: random.Random) -> str:
    content = json.loads(text)
    score = next(one for one in content["academiceval"]["scores"] if one["metric"] == "rouge_l_content")
    score["low"], score["high"] = score["value"] - 0.0001, score["value"] + 0.0001
    return json.dumps(content)


def edit_n(text: str, rng: random.Random) -> str:
    content = json.loads(text)
    rng.choice(content["academiceval"]["scores"])["samples"] *= 10
    return json.dumps(content)


def edit_subset(text: str, rng: random.Random) -> str:
    content = json.loads(text)
    content["academiceval"]["subsets"] = {TASK: [12, 50]}
    return json.dumps(content)


def nan(text: str, rng: random.Random) -> str:
    return text.replace('"value": 0.', '"value": NaN, "other": 0.', 1)


def doubled_key(text: str, rng: random.Random) -> str:
    return text.replace('"value": 0.', '"value": 0.99, "value": 0.', 1)


OF_RESULTS = (edit_value, edit_interval, edit_n, edit_subset, nan, doubled_key)


def rename(run: Path, rng: random.Random) -> None:
    """Call a file of samples that of another task, in the results too."""
    task = rng.choice(("academiceval_abs_28k", f"{TASK}_title_only"))
    [file] = run.glob(f"samples_{TASK}_*")
    [results] = run.glob("results_*.json")
    file.rename(run / file.name.replace(TASK, task))
    results.write_text(results.read_text().replace(TASK, task))
    relist(run)


def mix(run: Path, rng: random.Random) -> None:
    """Take half of another run's samples."""
    [file], [other] = run.glob("samples_*"), (run.parent / "other").glob("samples_*")
    ours, theirs = file.read_text().splitlines(), other.read_text().splitlines()
    file.write_text("\n".join([*ours[: len(ours) // 2], *theirs[len(ours) // 2 :]]) + "\n")
    relist(run)


def half_a_line(run: Path, rng: random.Random) -> None:
    [file] = run.glob("samples_*")
    file.write_text(file.read_text()[: -rng.randrange(20, 200)])
    relist(run)


def lose(run: Path, rng: random.Random) -> None:
    [file] = run.glob("samples_*")
    file.unlink()


OF_FOLDERS = (rename, mix, half_a_line, lose)


def edited(run: Path, seed: int) -> str:
    """Edit a run in a way that a seed decides, with its files listed as they are now; what was done."""
    rng = random.Random(seed)
    edit = [*OF_SAMPLES, *OF_RESULTS, *OF_FOLDERS][seed % 20]
    if edit in OF_SAMPLES:
        [file] = run.glob("samples_*")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        edit(lines, rng)  # type: ignore[operator]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        relist(run)
    elif edit in OF_RESULTS:
        [file] = run.glob("results_*")
        file.write_text(edit(file.read_text(), rng))  # type: ignore[operator]
    else:
        edit(run, rng)  # type: ignore[operator]
    return edit.__name__


@pytest.fixture(scope="module")
def runs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run in one shard, and another model's."""
    from builder.cli import main

    place = tmp_path_factory.mktemp("runs")
    for model, name in (("lead", "run"), ("random-sentence", "other")):
        line = ["eval", "--model", model, "--tasks", TASK, "--dataset", str(dataset), "--bertscore", "none"]
        assert main([*line, "--shard", "1/1", "--output", str(place / name)]) == 0
    return place


def readers(place: Path, run: Path) -> dict[str, tuple[object, ...]]:
    judge = ("--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--output", place / "judged")
    return {
        "show": ("show", run),
        "compare": ("compare", run, place / "other"),
        "report": ("report", run, "-o", place / "site"),
        "judge": ("judge", run, *judge),
        "merge": ("merge", run, "--output", place / "merged"),
        "push-results": ("push-results", run, "--repo", "org/results", "--subset"),
    }


EVERY = [pytest.param(seed, marks=() if seed < 20 and not seed % 2 else pytest.mark.long) for seed in range(100)]


@pytest.mark.parametrize("seed", EVERY)
def test_no_reader_prints_what_the_rows_do_not_give(
    seed: int, runs: Path, command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    run = tmp_path / "runs" / "run"
    what = edited(run, seed)
    for reader, line in readers(tmp_path / "runs", run).items():
        code, out, err = command(*line)
        if reader == "show" and what == "lose":
            # What is printed is said to be unchecked.
            assert (code, "none of its numbers was checked" in caplog.text) == (0, True), err
            continue
        assert (code, err.count("\n")) == (1, 1), (what, reader, out, err)
        assert str(run) in err, (what, reader, err)


def test_whole_runs_pass(runs: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    for reader, line in readers(tmp_path / "runs", tmp_path / "runs" / "run").items():
        code, out, err = command(*line)
        assert code == 0, (reader, out, err)


def test_what_another_release_scored_is_checked_by_its_sums(
    dataset: Path, command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = evaluated(command, dataset, tmp_path / "run")

    def older(line: dict[str, Any]) -> dict[str, Any]:
        scored = json.loads(line["filtered_resps"][0])
        assert scored["scorer"] == SCORER
        scored["scores"]["rouge_l_content"] += 0.01
        line["filtered_resps"] = [json.dumps({**scored, "scorer": 0})]
        return line

    rewrite(run, older)
    assert open_run(only_result(run))
    assert "only the means of their scores were checked" in caplog.text
    [file] = run.glob("samples_*")
    caplog.clear()
    (tmp_path / "alone").mkdir()
    alone = shutil.copy(file, tmp_path / "alone")
    assert command("report", alone, "-o", tmp_path / "site")[0] == 0
    assert "only the means of their scores were checked" in caplog.text
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    edit_score(lines, random.Random(0))
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    relist(run)
    with pytest.raises(SamplesError, match="rouge_l"):
        open_run(only_result(run))


def test_a_cache_of_requests_answers_no_other_dataset(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `lm_eval --cache_requests true` does: the prompts of an earlier dataset, the rows of this one."""
    from lm_eval_tasks.base.errors import PromptError
    from lm_eval_tasks.families.score import score, unpack
    from lm_eval_tasks.families.writing.hook import load

    docs = list(load("Abs-9K", 100, dataset=str(dataset), bertscore_model="none")["test"])[:2]
    scored = score([["An answer."]] * 2, docs)
    assert unpack(docs[0], [scored[0]])["rouge_l"] >= 0
    for change in ({"prompt": docs[0]["prompt"] + " Another."}, {"target": "Another."}, docs[1]):
        with pytest.raises(PromptError, match=str({**docs[0], **change}["id"])):
            unpack({**docs[0], **change}, [scored[0]])
    assert ScoredAnswer.from_text(scored[0]).asked
