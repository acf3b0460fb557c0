"""A metric is reported over all samples that have it, whichever those are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hub_scripts.reproduce.page import _scores
from lm_eval_tasks.samples.answers import ScoredAnswer, mean_of
from lm_eval_tasks.samples.sample import Sample, read
from lm_eval_tasks.stats.columns import columns_of, headline_of
from lm_eval_tasks.stats.scores import by_month, scores_of
from tests.helpers.samples import sample

Command = Callable[..., tuple[int, str, str]]


def samples(*scores: dict[str, float], **columns: object) -> list[Sample]:
    """Samples with these scores, each by its own author, one a month."""
    return [
        sample(f"p{i:02d}", f"author {i}", own, published=f"2026-{i % 12 + 1:02d}-01", **columns)
        for i, own in enumerate(scores)
    ]


def test_a_metric_that_the_first_sample_lacks_is_there() -> None:
    of_task = samples({"rouge_l": 0.5}, {"rouge_l": 0.3, "numbers_supported": 1.0}, {"numbers_supported": 0.0})
    columns = columns_of(of_task)
    assert {name: (column.n, column.mean) for name, column in columns.items()} == {
        "rouge_l": (2, pytest.approx(0.4)),
        "numbers_supported": (2, 0.5),
    }
    told = {score.metric: (score.value, score.samples) for score in scores_of({"academiceval_abs_9k": of_task}, "m")}
    assert told == {"rouge_l": (pytest.approx(0.4), 2), "numbers_supported": (0.5, 2)}


def test_columns_do_not_depend_on_the_order_of_samples() -> None:
    of_task = samples({"empty": 0.0}, {"rouge_l": 0.5, "capped": 0.0}, {"capped": 1.0, "rouge_l": 0.1}, {"b": 1.0})
    forth, back = columns_of(of_task), columns_of(of_task[::-1])
    assert list(forth) == list(back)
    assert [column.scores for column in forth.values()] == [
        dict(sorted(column.scores.items())) for column in back.values()
    ]
    # Answers that reached their cap, and those of which that is not known, are left out of the second score.
    uncapped = [one for one in scores_of({"t": of_task}, "m") if one.metric == "rouge_l_uncapped"]
    assert [(one.value, one.samples) for one in uncapped] == [(0.5, 1)]


def test_no_sample_has_a_score() -> None:
    assert columns_of(samples({}, {})) == {}
    assert headline_of({}) is None
    assert scores_of({"academiceval_abs_9k": samples({}, {})}, "m") == []
    assert columns_of([]) == {}


def test_a_month_without_a_metric_says_nothing_of_it() -> None:
    months = by_month(samples({}, {"rouge_l": 0.5}, {"accuracy": 1.0}))
    assert months == {
        "2026-01": {"samples": 1},
        "2026-02": {"samples": 1, "rouge_l": 0.5},
        "2026-03": {"samples": 1, "accuracy": 1.0},
    }


def test_repeated_answers_keep_a_metric_that_only_some_have() -> None:
    answers = [ScoredAnswer("a", {"rouge_l": 0.2}), ScoredAnswer("b", {"rouge_l": 0.4, "names_supported": 1.0})]
    assert mean_of(answers).scores == {"rouge_l": pytest.approx(0.3), "names_supported": 1.0}


def test_reproduced_tables_have_it_too(tmp_path: Path) -> None:
    lines = [
        {"doc": one.row.to_doc(), "filtered_resps": [ScoredAnswer("x", one.scores).to_text()]}
        for one in samples({"bertscore": 0.5}, {"rouge_l": 0.25})
    ]
    (tmp_path / "samples_x_m.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert _scores(tmp_path)["Abs-9K", "rouge_l"].mean == 0.25


@pytest.mark.slow
def test_rows_with_and_without_demonstrations(command: Command, dataset: Path, tmp_path: Path) -> None:
    """A task whose first rows a baseline cannot answer ends like any other."""
    import shutil

    from lm_eval_tasks.evaluate.run import Part, evaluate

    scores = evaluate(
        "copy-demo",
        "",
        ["academiceval_abs_29k_g", "academiceval_abs_9k"],
        {"dataset": str(dataset), "bertscore_model": "none"},
        Part(3),
        tmp_path / "out",
    )
    # Without demonstrations there is nothing to copy.
    assert {score.task for score in scores} == {"academiceval_abs_29k_g"}
    assert len(read([tmp_path / "out"])) == 6
    shutil.rmtree(tmp_path / "out")
