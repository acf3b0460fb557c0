"""What a page makes of samples, and of rows that its families do not give."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from hub_scripts.report import figures, kept
from hub_scripts.report.cells import Cell, Group, Key, score_rows, split_steps
from hub_scripts.report.drawing import Sheet, looks
from hub_scripts.report.figures import length_rows
from hub_scripts.report.gather import carried_baselines
from hub_scripts.report.newest import _key
from lm_eval_tasks.base.contract import BM25_LOCAL, LIKELIHOOD
from lm_eval_tasks.base.intervals import difference, level
from lm_eval_tasks.stats.columns import Column
from tests.helpers.samples import ranking, sample


def test_a_baseline_that_samples_carry_is_shown_over_all_that_carry_it() -> None:
    new = [
        sample(
            str(i), f"A{i}", {"accuracy": 0.0, "accuracy_bm25_local": float(i < 3), "accuracy_random": 0.25}, "2026.11"
        )
        for i in range(4)
    ]
    old = [sample(str(i), f"A{i}", {"accuracy": 1.0, "accuracy_random": 0.25}, "2026.11") for i in range(3)]
    for runs in ({"new": new, "old": old}, {"old": old, "new": new}):
        (cell,) = carried_baselines(runs)
        assert (cell.model, cell.samples, cell.is_carried) == (BM25_LOCAL, 4, True)
        assert cell.columns["accuracy"].mean == 0.75
        # It is the best program, and so its own floor.
        assert cell.floors["accuracy"].scores == cell.columns["accuracy"].scores
    assert not list(carried_baselines({"old": old}))
    assert not list(carried_baselines({"new": new, BM25_LOCAL: old}))
    # A model that was shown less is not set against programs that read what was hidden from it.
    less = [replace(one, row=replace(one.row, shown="none")) for one in new]
    assert not list(carried_baselines({"less": less}))


def test_retrieved_texts_that_are_scored_by_likelihood_are_no_answers() -> None:
    row = sample("1", "A", {}, "2026.11").row
    likely = replace(
        sample("1", "A", {}, "2026.11"), row=replace(row, shown="retrieved", retriever="bm25", way=LIKELIHOOD)
    )
    assert _key(likely, {}).setting == "Abs-9K bpb"


def test_a_row_has_its_scores_before_and_since_each_month() -> None:
    """Papers of three months and thirty authors; one model has answered none of the last month."""
    ids = [str(i) for i in range(36)]
    days = [f"2026-{8 + i // 12:02}-{1 + i % 12:02}" for i in range(36)]
    authors = [f"A{i % 12}" for i in range(36)]
    scores = {id_: (7 * i % 36) / 50 for i, id_ in enumerate(ids)}
    some = {id_: scores[id_] for id_ in ids[:24]}
    of_ids = dict(zip(ids, authors, strict=True))
    cells = [
        Cell(model, len(own), {"rouge_l": Column("rouge_l", own, {id_: of_ids[id_] for id_ in own})}, {}, None, 36)
        for model, own in (("all", scores), ("some", some))
    ]
    group = Group(Key("2026.11", "Abs-9K"), "abs", ranking("abs"), 9, ids, ids, ids, days, cells, [1], {})
    rows = score_rows([group], {})
    assert [row.model for row in rows] == sorted(
        ("all", "some"), key=lambda model: -fmean({"all": scores, "some": some}[model].values())
    )
    rows.sort(key=lambda row: row.model)
    steps = split_steps(rows)
    assert steps["splits"] == ["2026-09", "2026-10"]
    for row, own in zip(steps["rows"], (scores, some), strict=True):
        for texts, at in zip(row, (12, 24), strict=True):
            for text, part in zip(texts, (ids[:at], ids[at:]), strict=True):
                values = [own[id_] for id_ in part if id_ in own]
                if not values:
                    assert text == "\u2013"
                    continue
                over = level(values, [authors[int(id_)] for id_ in part if id_ in own])
                assert over.bounds
                shown = [sum(values) / len(values), *over.bounds, len(values)]
                assert [float(one) for one in re.findall(r"[\d.]+", text)] == pytest.approx(shown, abs=0.00051)


def test_a_part_without_an_interval_says_why() -> None:
    ids = [f"{i:02d}" for i in range(14)]
    days = ["2026-08-01"] * 7 + ["2026-09-01"] * 7
    scores = {id_: 0.1 + i / 20 for i, id_ in enumerate(ids)}
    cells = [Cell("m", 14, {"rouge_l": Column("rouge_l", scores, {id_: id_ for id_ in ids})}, {}, None, 14)]
    group = Group(Key("2026.11", "Abs-9K"), "abs", ranking("abs"), 9, ids, ids, ids, days, cells, [1], {})
    [[parts]] = split_steps(score_rows([group], {}))["rows"]
    assert all("n 7" in part and "first authors" in part for part in parts)


def test_a_row_has_its_margin_and_its_scores_over_shorter_and_longer_prompts() -> None:
    ids = [f"q{i}" for i in range(24)]
    scores, zero = ({id_: (7 * i % 24) / part for i, id_ in enumerate(ids)} for part in (24, 48))
    authors = {id_: id_ for id_ in ids}
    lengths = {id_: 8192 if i < 12 else 200_000 for i, id_ in enumerate(ids)}
    own, floor = Column("rouge_l", scores, authors), Column("best program", zero, authors)
    cell = Cell("m", 24, {"rouge_l": own}, {"rouge_l": floor}, None, 24, lengths=lengths)
    asked, days = [*ids, "of a run that has not ended"], ["2026-11-01"] * 25
    group = Group(Key("2026.11", "Abs-9K"), "abs", ranking("abs"), 9, asked, asked, asked, days, [cell], [1], {"n": 1})
    [row] = score_rows([group], {})
    assert row.of is None
    assert row.margin == own.minus(floor)
    assert row.margin.mean == pytest.approx(row.score.mean - (row.floor or 0))
    # A length that does not tell prompts apart is left out, and one that tells no others apart.
    assert list(row.splits) == ["8K", "16K", "32K", "64K", "128K"]
    assert split_steps([row])["splits"] == ["8K"]
    first, rest = row.splits["8K"]
    assert first and rest
    assert (first.mean, first.samples) == (pytest.approx(fmean([scores[id_] for id_ in ids[:12]])), 12)
    assert (rest.mean, rest.samples) == (pytest.approx(fmean([scores[id_] for id_ in ids[12:]])), 12)


def test_the_curve_over_lengths_pairs_the_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer context asks twelve questions of the shorter one's fifteen, and all have the same answers but for a shift."""
    ids = [f"q{i}" for i in range(15)]
    short = {id_: (7 * i % 15) / 30 for i, id_ in enumerate(ids)}
    long = {id_: short[id_] - 0.1 - (i % 3) / 100 for i, id_ in enumerate(ids[:12])}
    groups = []
    for size, scores in ((128, short), (256, long)):
        own = list(scores)
        column = Column("exact", scores, {id_: id_ for id_ in own})
        cells = [Cell(name, len(own), {"exact": column}, {}, 1000.0 * size, len(own)) for name in ("model", "other")]
        days = ["2026-10-01"] * len(own)
        key = Key("2026.11", f"Walk-{size}K")
        groups.append(Group(key, "walk", "exact", size, own, own, own, days, cells, [1], {}))
    first, second, *_ = length_rows(groups, "exact")
    assert first[-3:] == (None, None, None)
    paired = difference([long[id_] - short[id_] for id_ in long], list(long))
    assert paired.bounds
    assert second[-3:] == pytest.approx((paired.mean, *paired.bounds))
    assert not list(length_rows(groups[:1], "exact"))
    # The plots say the same change, and what they leave out.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **options: None)
    monkeypatch.setattr(figures, "_MOST_PANELS", 1)
    groups[0].cells.append(Cell("of no such scores", 0, {}, {}, None, 15))
    said = {plot.name.partition("_")[0]: plot.alt + plot.takeaway for plot in figures.draw_all(groups, tmp_path)}
    assert f"by {paired.mean:+.3f} on average" in said["length"] and "1 of 2 settings" in said["scores"]
    assert "one line for each of 2 models" in said["length"]


def test_what_is_kept_through_a_chat_template_is_shown() -> None:
    ids, groups = [f"p{i}" for i in range(24)], list[Group]()
    for name, bits in {"Alone": 1, "4K": 8, "Without": 9, "Alone chat": 1, "4K chat": 1, "Without chat": 9}.items():
        scores = {id_: bits * (1 + i / 100) for i, id_ in enumerate(ids)}
        cell = Cell("m", 24, {"span_bits": Column("span_bits", scores, {id_: id_ for id_ in ids})}, {}, None, 24)
        key = Key("2026.11", f"Recall-{name}")
        groups.append(Group(key, "recall", "span_bits", 4, ids, ids, ids, ids, [cell], [1], {}, parts=ids))
    verdicts = {(each.model, each.configuration): each.verdict for each in kept.rows_of(groups)}
    assert (verdicts["m chat", "Recall-4K"], verdicts["m", "Recall-4K"]) == ("held", "lost")


def test_a_model_may_lack_a_part_of_what_is_kept(tmp_path: Path) -> None:
    line = kept.KeptPoint("Recall-4K", 4, "A", 0.95, 0.9, 1.0, "held", 11.0, 38, "held to Recall-4K")
    rows = [line, line._replace(part="first", part_share=0.9), line._replace(part="last", part_share=0.9)]
    rows += [row._replace(model="B") for row in rows[:2]]
    plot = kept.by_length(Sheet(tmp_path), rows, "2026.11", looks(["A", "B", "C"]))
    assert plot.table is not None
    assert [row[0] for row in plot.table.rows] == ["A", "B"]
    assert (tmp_path / f"{plot.name}.svg").is_file()


def test_folders_of_samples_differ_where_names_do() -> None:
    names = (
        "2026.11 (run a)",
        "2026.11 (run-a)",
        "2026.11 -run-a-",
        "2026.11~20",
        "\U00020000" * 300,
        "\U00020000" * 301,
    )
    slugs = {Key(name, "Abs-9K").slug for name in names}
    assert len(slugs) == len(names) and max(map(len, slugs)) < 150
