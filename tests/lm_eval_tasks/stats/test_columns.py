"""A metric is reported over all samples that have it, whichever those are."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from statistics import fmean

import pytest

from lm_eval_tasks.base.contract import LIKELIHOOD
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.tables import text_lines
from lm_eval_tasks.judge.evidence import passages_for
from lm_eval_tasks.samples.answers import ScoredAnswer, mean_of
from lm_eval_tasks.samples.block import OURS
from lm_eval_tasks.samples.results import JOURNAL
from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.samples.sample import Sample, read, read_file
from lm_eval_tasks.stats.columns import columns_of, gains_of, zero_of
from lm_eval_tasks.stats.compare import compare, runs_of
from lm_eval_tasks.stats.scores import score_table, scores_of
from standins.rounds import build, small_round
from tests.helpers.samples import sample
from tests.helpers.served import Command, metadata


def samples(*scores: dict[str, float], **columns: object) -> list[Sample]:
    """Samples with these scores, each by its own author, one a month."""
    return [
        sample(f"p{i:02d}", f"author {i}", own, published=f"2026-{i % 12 + 1:02d}-01", **columns)
        for i, own in enumerate(scores)
    ]


def test_a_metric_that_the_first_sample_lacks_is_there() -> None:
    of_task = samples({"rouge_l": 0.5}, {"rouge_l": 0.3, "bertscore": 1.0}, {"bertscore": 0.0})
    columns = columns_of(of_task)
    assert {name: (column.n, column.mean) for name, column in columns.items()} == {
        "rouge_l": (2, pytest.approx(0.4)),
        "bertscore": (2, 0.5),
    }
    told = {score.metric: (score.value, score.samples) for score in scores_of({"academiceval_abs_9k": of_task}, "m")}
    assert told == {"rouge_l": (pytest.approx(0.4), 2), "bertscore": (0.5, 2)}


def test_columns_do_not_depend_on_the_order_of_samples() -> None:
    of_task = samples({"empty": 0.0}, {"rouge_l": 0.5, "capped": 0.0}, {"capped": 1.0, "rouge_l": 0.1}, {"b": 1.0})
    forth, back = columns_of(of_task), columns_of(of_task[::-1])
    assert list(forth) == list(back)
    assert [column.scores for column in forth.values()] == [
        dict(sorted(column.scores.items())) for column in back.values()
    ]


def test_repeated_answers_keep_a_metric_that_only_some_have() -> None:
    answers = [ScoredAnswer("a", {"rouge_l": 0.2}), ScoredAnswer("b", {"rouge_l": 0.4, "length_ratio": 1.0})]
    assert mean_of(answers).scores == {"rouge_l": pytest.approx(0.3), "length_ratio": 1.0}


def test_samples_that_lack_a_score_are_left_out_and_counted(tmp_path: Path) -> None:
    for name, scores in (("a", [{"rouge_l": 0.5}, {"rouge_l": 0.3}]), ("b", [{"rouge_l": 0.6}, {}])):
        write(tmp_path / name, samples(*scores))
    [difference] = compare(runs_of([tmp_path / "a", tmp_path / "b"]), ["rouge_l"])
    assert (difference.difference.samples, difference.sizes) == (1, (2, 2))


def test_a_table_names_the_samples_of_a_score_that_few_have() -> None:
    of_task = samples({"rouge_l": 0.5, "bertscore": 1.0}, {"rouge_l": 0.3})
    text = "\n".join(
        line for item in score_table(scores_of({"t": of_task}, "m")) for line in text_lines(item, "markdown")
    )
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| t |")]
    assert {row[1]: row[3] for row in rows} == {"rouge_l": "2", "bertscore": "1"}


def test_floor_and_margin_stand_beside_a_setting_of_the_rounds_own_and_no_shorter_context() -> None:
    rows = samples(*({"rouge_l_content": 0.5, "rouge_l_content_lead": 0.2 * (i < 12)} for i in range(24)), setting="X")
    for name, floor in (("academiceval_title_10k", "0.2000"), ("academiceval_core_abs_29k_g_none", "-")):
        of_tasks = {name: rows[:12], "academiceval_title_30k": rows}  # of one configuration
        [table, *_] = score_table(scores_of(of_tasks, "m"), gains_of(rows), of_tasks)
        [row] = [line.split(" | ") for line in text_lines(table, "markdown") if f"| {name}" in line]
        assert row[4] == floor


def test_tasks_by_likelihood_have_floors_of_their_own() -> None:
    of_tasks = {}
    for name, setting, bits in (("abs_9k", "Abs-9K", 2.0), ("intro_8k", "Intro-8K", 3.0)):
        scores = {"bits_per_byte": bits - 1, "bits_per_byte_ppmd": bits, "bits_per_byte_zstd": bits + 1}
        rows = samples(*[scores] * 12, setting=setting, way=LIKELIHOOD, prompt_name=f"{name.partition('_')[0]}_short")
        of_tasks[f"academiceval_{name}_bpb"] = rows
    every = [sample for rows in of_tasks.values() for sample in rows]
    [table, *_] = score_table(scores_of(of_tasks, "m"), gains_of(every), of_tasks)
    lines = [line.strip("| ").split(" | ") for line in text_lines(table, "markdown") if "| bits_per_byte (" in line]
    assert {line[0]: line[4] for line in lines} == {
        "academiceval_abs_9k_bpb": "2.0000",
        "academiceval_intro_8k_bpb": "3.0000",
    }


def test_of_a_journal_the_newest_answer_to_a_sample_counts(tmp_path: Path) -> None:
    """A run that was begun again with other arguments has two answers to a prompt."""
    [first] = samples({"rouge_l": 0.5})
    entries = [{"key": key, "doc": first.row.to_doc(), "value": key} for key in ("old", "new")]
    (tmp_path / JOURNAL).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert [found.answer for found in read_file(tmp_path / JOURNAL)] == ["new"]


def test_a_score_that_cannot_be_is_refused() -> None:
    with pytest.raises(SamplesError, match=r"has a rouge_l of 9e\+11, which cannot be"):
        columns_of(samples({"rouge_l": 0.2}, {"rouge_l": 9e11}))
    assert columns_of(samples({"length_ratio": 40.0}))["length_ratio"].mean == 40.0


def write(folder: Path, of_task: list[Sample]) -> None:
    folder.mkdir()
    lines = [{"doc": one.row.to_doc(), "filtered_resps": [ScoredAnswer("x", one.scores).to_text()]} for one in of_task]
    (folder / "samples_x_m.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_savings_over_uncut_rows_say_how_many_rows_there_are() -> None:
    def run(cut: int, bits: dict[str, float]) -> dict[str, list[Sample]]:
        asked = ({"way": LIKELIHOOD, "shown": shown, "tokens_cut": cut} for shown in ("other", "start"))
        return {str(way["shown"]): samples(bits, **way) + samples({}, bits, **way | {"tokens_cut": 0}) for way in asked}

    *_, saved = compare({Path(str(cut)): run(cut, {"bits_per_byte": 2.0}) for cut in (0, 5)}, uncut=True)
    assert (saved.metric, saved.difference.samples, saved.sizes) == ("bits saved per byte", 1, (2, 2))


@pytest.mark.slow
def test_rows_with_and_without_demonstrations(command: Command, world: Path, tmp_path: Path) -> None:
    """A setting of which a baseline can answer only some rows: every figure says over how many."""
    shutil.copytree(world / "work", tmp_path / "work")
    mixed = {"name": "Mix", "task": "abs", "tokens": 6500, "fill": ["co-author"]}
    dataset = build(small_round(tmp_path, settings=("Abs-9K",), setting=[mixed])).output
    tasks = ("--tasks", "academiceval_abs_9k", "--metadata", metadata(dataset, config="Mix"))
    runs = [tmp_path / "lead", tmp_path / "copy-demo"]
    for run in runs:
        assert command("eval", "--model", run.name, *tasks, "--output", run)[0] == 0
    rows, able = read([runs[0]]), read([runs[1]])
    assert 0 < len(able) < len(rows)
    [score] = [score for score in only_result(runs[1]).scores if score.metric == "rouge_l"]
    assert (score.samples, score.of) == (len(able), len(rows))
    [difference] = compare(runs_of(runs))
    assert (difference.difference.samples, difference.sizes) == (len(able), (len(rows), len(able)))
    # A judge is shown each paper, whatever the model had room for.
    results = only_result(runs[0])
    fitting = {**results.content, OURS: {**results.content[OURS]}}
    fitting[OURS]["run"]["metadata"]["fits_only"] = True
    results.path.write_text(json.dumps(fitting))
    runs[0].rename(tmp_path / "2026-11-30T10-00-00")
    assert len(passages_for([tmp_path], rows, 2)) == len(rows)


def test_the_best_program_is_chosen_on_other_authors_than_it_counts_on() -> None:
    draws = random.Random(0)
    programs = ("accuracy_random", "accuracy_constant", "accuracy_bm25_local", "accuracy_name_local")
    equal = [{"accuracy": 1.0, **{name: float(draws.random() < 0.5) for name in programs}} for _ in range(2000)]

    def zero(scores: list[dict[str, float]]) -> float:
        column = zero_of("accuracy", columns_of(samples(*scores)))
        assert column is not None
        assert column.n == len(scores)
        return column.mean

    few = [zero(equal[i : i + 40]) for i in range(0, 2000, 40)]
    # The best of these programs on the samples that it is chosen by would score .57 on average.
    assert abs(fmean(few) - 0.5) < 0.03
    assert zero([{**scores, "accuracy_name_local": 1.0} for scores in equal[:40]]) == 1.0
    assert zero([{"accuracy": 1.0, "accuracy_random": 0.25}] * 5) == 0.25
    # A program that lacks a sample is no floor of the others, and what the metric lacks does not count.
    part = [
        *[{"accuracy": 1.0, "accuracy_random": 0.25, "accuracy_constant": 0.9}] * 4,
        {"accuracy": 1.0, "accuracy_random": 0.25},
    ]
    assert zero(part) == 0.25
