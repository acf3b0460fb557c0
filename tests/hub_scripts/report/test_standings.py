"""One number for each model: how it is made up, who is ranked, and how often its interval holds the truth."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hub_scripts.errors import ReportError
from hub_scripts.report.cells import Cell, Group, Key
from hub_scripts.report.runs import ModelFacts, facts_of, known_models, scorers_of
from hub_scripts.report.standings import Standings, standings_of
from lm_eval_tasks.base.contract import LOCAL
from lm_eval_tasks.data.selection import Fact, representative_rows
from lm_eval_tasks.families.registry import READING, WRITING, Board, counted
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL
from lm_eval_tasks.samples.block import Block, RunRequest
from lm_eval_tasks.samples.results import Results
from lm_eval_tasks.stats.columns import Column
from lm_eval_tasks.stats.placed import PlacedTask, by_task, difference_over
from tests.helpers.samples import ranking

METRIC = "rouge_l_content"
IDS = [f"2611.{i:05d}" for i in range(40)]


def _cell(
    model: str,
    scores: dict[str, float],
    floor: float,
    metric: str = "rouge_l_content",
    of: int | None = None,
    authors: list[str] | None = None,
) -> Cell:
    names = authors or [f"Author {int(id_.partition('.')[2])}" for id_ in scores]
    clusters = dict(zip(scores, names, strict=True))
    columns = {metric: Column(metric, scores, clusters)}
    columns["capped"] = Column("capped", dict.fromkeys(scores, 0.25), clusters)
    floors = {metric: Column(metric, dict.fromkeys(scores, floor), clusters)}
    return Cell(model, len(scores), columns, floors, None, of)


def _group(setting: str, task: str, cells: list[Cell]) -> Group:
    return Group(
        Key("2026.11", setting), task, ranking(task), None, IDS, IDS, IDS, ["2026-11-01"] * len(IDS), cells, [1], {}
    )


def _level(value: float, spread: float = 0.0, seed: int = 0) -> dict[str, float]:
    rng = random.Random(seed)
    return {id_: value + spread * rng.gauss(0, 1) for id_ in IDS}


def _found(groups: list[Group], board: Board = WRITING) -> Standings:
    found = standings_of(groups, [group.key.setting for group in groups], board)
    assert found is not None
    return found


def test_no_number_averages_over_writing_and_reading() -> None:
    groups = [
        _group("Abs-9K", "abs", [_cell("m", _level(0.4), 0.2)]),
        _group("Title-10K", "title", [_cell("m", _level(0.6), 0.2)]),
        _group("SCALAR-Easy", "scalar", [_cell("m", _level(1.0), 0.25, "accuracy")]),
        _group("SCALAR-Hard", "scalar", [_cell("m", _level(0.25), 0.25, "accuracy")]),
    ]
    (writing,), (reading,) = _found(groups).standings, _found(groups, READING).standings
    assert writing.tasks == {"abs": pytest.approx(0.25), "title": pytest.approx(0.5)}
    assert writing.overall is not None and reading.overall is not None
    assert writing.overall.mean == pytest.approx((0.25 + 0.5) / 2)
    assert (writing.samples, writing.capped, writing.cut) == (80, 0.25, None)
    assert reading.overall.mean == pytest.approx((1 + 0) / 2)


def test_the_round_fixes_what_counts() -> None:
    """One setting of each task, that with co-authors' papers if the round has it; a model cannot add to it or take from it."""
    assert counted(("Abs-9K", "Abs-28K", "Abs-29K-G", "Title-10K", "SCALAR-Hard", "mine"), WRITING) == (
        "Title-10K",
        "Abs-29K-G",
    )
    assert counted(("Abs-9K", "SCALAR-Hard", "SCALAR-Easy"), READING) == ("SCALAR-Easy", "SCALAR-Hard")
    names = ("Title-10K", "Abs-9K", "SCALAR-Easy")
    first, second = _cell("first", _level(0.8, 0.02, 1), 0.1), _cell("second", _level(0.5, 0.02, 2), 0.1)
    groups = [_group("Title-10K", "title", [first, second]), _group("Abs-9K", "abs", [first, second])]
    before = standings_of(groups, names, WRITING)
    # It has more than the others, and less: of writing a setting that does not count, of reading nothing.
    weak = _cell("weak", _level(0.2, 0.02, 3), 0.1)
    groups = [
        _group("Title-10K", "title", [first, second]),
        _group("Abs-9K", "abs", [first, second, weak]),
        _group("Intro-8K", "intro", [weak]),
    ]
    after = standings_of(groups, names, WRITING)
    assert before is not None and after is not None
    assert [one for one in after.standings if one.model != "weak"] == list(before.standings)
    assert {one.model: (one.rank, one.missing) for one in after.standings}["weak"] == (None, ("Title-10K",))
    assert standings_of(groups, names, READING) is None


def test_models_are_ranked_by_their_paired_differences() -> None:
    """Two points apart at a hundred papers, whose difficulty is common to both: their intervals overlap."""
    ids = [f"2611.{i:05d}" for i in range(100)]
    rng = random.Random(0)
    common = {id_: 0.3 + 0.08 * rng.gauss(0, 1) for id_ in ids}
    better = {id_: value + 0.02 + 0.03 * rng.gauss(0, 1) for id_, value in common.items()}
    group = Group(
        Key("2026.11", "Abs-9K"), "abs", ranking("abs"), None, ids, ids, ids, ["2026-11-01"] * 100, [], [1], {}
    )
    group.cells += [_cell("common", common, 0.1), _cell("better", better, 0.1)]
    found = _found([group])
    assert {one.model: one.rank for one in found.standings} == {"better": 1, "common": 2}
    lead, other = found.differences["better", "common"], found.differences["common", "better"]
    assert lead.low is not None and lead.low > 0
    assert (other.mean, other.high) == (-lead.mean, -lead.low)
    first, second = (one.overall for one in found.standings)
    assert first and second and first.low is not None and second.high is not None
    assert first.low < second.high


def test_a_part_with_few_authors_has_no_interval_and_gives_no_rank() -> None:
    few = [f"Author {i % 5}" for i in range(len(IDS))]
    groups = [
        _group("Abs-9K", "abs", [_cell("m", _level(0.4, 0.1), 0.2)]),
        _group("Related-34K", "related", [_cell("m", _level(0.6, 0.1), 0.25, authors=few)]),
    ]
    (standing,) = _found(groups).standings
    assert standing.overall is not None
    assert (standing.overall.bounds, standing.rank, standing.small) == (None, None, ("Related-34K",))


def test_models_that_no_test_tells_apart_share_a_rank_and_baselines_have_none() -> None:
    cells = [
        _cell("best", _level(0.8, 0.02, 1), 0.1),
        _cell("as good", _level(0.8, 0.02, 4), 0.1),
        _cell("worse", _level(0.3, 0.02, 3), 0.1),
        _cell("lead", _level(0.9), 0.1),
    ]
    found = _found([_group("Abs-9K", "abs", cells)])
    places = {one.model: (one.rank, one.last) for one in found.standings}
    assert places == {"best": (1, 2), "as good": (1, 2), "worse": (3, 3), "lead": (None, None)}
    assert found.standings[-1].model == "lead"


def test_a_board_without_a_model_above_the_floor_ranks_nobody() -> None:
    def at(*levels: float) -> Standings:
        cells = [_cell(f"m{i}", _level(value, 0.1, seed=i), 0.3) for i, value in enumerate(levels)]
        return _found([_group("Abs-9K", "abs", cells)])

    low, high = at(0.3, 0.2), at(0.3, 0.2, 0.5)
    assert "above the floor" in low.unranked
    assert [one.rank for one in low.standings] == [None, None]
    assert not high.unranked
    assert high.standings[0].rank == 1
    # Where nobody can be ranked at all, the board says so too.
    alone = _found([_group("Abs-9K", "abs", [_cell("lead", _level(0.9), 0.3)])])
    assert alone.unranked
    assert alone.unranked != low.unranked


def test_models_with_a_part_of_a_board_stand_behind_the_others_who_lacks_least_and_the_best_first() -> None:
    whole, more = _cell("whole", _level(0.4, 0.05), 0.2), _cell("more", _level(0.3, 0.05), 0.2)
    part, worse = _cell("part", _level(0.6, 0.05), 0.2), _cell("worse", _level(0.5, 0.05), 0.2)
    groups = [
        _group("Abs-9K", "abs", [whole]),
        _group("Intro-8K", "intro", [replace(whole), more]),
        _group("Title-10K", "title", [replace(whole), replace(more), part, worse]),
    ]
    assert [one.model for one in _found(groups).standings] == ["whole", "more", "part", "worse"]


def test_a_model_without_a_counted_setting_or_with_a_part_of_it_has_no_rank() -> None:
    whole = [_cell(name, _level(0.5, 0.02), 0.1) for name in "abc"]
    part = _cell("part", {id_: 0.9 for id_ in IDS[:12]}, 0.1, of=len(IDS))
    found = _found(
        [
            _group("Abs-9K", "abs", [*whole, part]),
            _group("Title-10K", "title", [*whole, _cell("part", _level(0.9), 0.1)]),
            _group("Abs-9K none", "abs", whole),
        ]
    )
    assert found.settings == ("Title-10K", "Abs-9K")
    ranks = {one.model: (one.rank, one.missing) for one in found.standings}
    assert ranks["part"] == (None, ("Abs-9K",))
    assert ranks["a"][1] == ()
    assert [one.model for one in found.standings][-1] == "part"


def test_without_a_floor_or_with_one_that_leaves_no_room_there_is_no_overall() -> None:
    bare, full = _cell("m", _level(0.5), 0.1), _cell("m", _level(0.95), 0.92)
    bare.floors.clear()
    for cell in (bare, full):
        assert standings_of([_group("Abs-9K", "abs", [cell])], ["Abs-9K"], WRITING) is None


def _over_core(*cells: Cell) -> dict[str, tuple[float | None, int | None, int]]:
    """Model -> overall, rank, samples that count; of two settings whose core is twelve samples."""
    settings = {"Title-31K-G": "title", "Abs-29K-G": "abs"}
    groups = [_group(name, task, list(cells)) for name, task in settings.items()]
    found = standings_of(groups, list(settings), WRITING, dict.fromkeys(settings, 12))
    assert found is not None
    means = {one.model: round(one.overall.mean, 6) if one.overall else None for one in found.standings}
    return {one.model: (means[one.model], one.rank, one.samples) for one in found.standings}


CORE = [IDS[i] for i in representative_rows(range(len(IDS)), [Fact(id_, "2026-11-01", "") for id_ in IDS], 12)]
_OTHERS = {id_: 0.9 for id_ in IDS if id_ not in CORE}
WHOLE = _cell("whole", {id_: _OTHERS.get(id_, score) for id_, score in _level(0.3, 0.02).items()}, 0.1, of=len(IDS))
OF_CORE = _cell("core", {id_: score for id_, score in _level(0.5, 0.02, 1).items() if id_ in CORE}, 0.1, of=len(IDS))


def test_a_board_counts_the_core_where_a_model_was_asked_no_more() -> None:
    found = _over_core(WHOLE, OF_CORE)
    assert {model: one[1:] for model, one in found.items()} == {"core": (1, 24), "whole": (2, 24)}
    assert found["whole"][0] == pytest.approx((0.3 - 0.1) / 0.9, abs=0.02)
    assert _over_core(WHOLE)["whole"][1:] == (1, 80)
    assert _over_core(OF_CORE)["core"] == found["core"]
    # Fewer than the core are no score, and take nothing from the others.
    few = _cell("few", dict(list(OF_CORE.columns[METRIC].scores.items())[:11]), 0.1, of=len(IDS))
    assert _over_core(WHOLE, OF_CORE, few) == {**found, "few": (None, None, 0)}
    # Cut prompts, and retrieved chunks in place of the context, have no rank.
    scores = WHOLE.columns[METRIC]
    cut = replace(WHOLE, columns={METRIC: scores, "truncated": replace(scores, scores=dict.fromkeys(IDS, 1.0))})
    assert _over_core(cut)["whole"][1] is None
    short = replace(WHOLE, model="whole + bm25", shown="retrieved", reader="whole")
    assert set(_over_core(WHOLE, short)) == {"whole"}


def test_no_gain_is_stated_over_a_context_that_the_window_cuts_to_the_same_prompts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def gains(equal: int) -> list[str]:
        """The contexts over which a gain is stated where so many prompts are those of the full context."""
        prompts = {id_: f"full {id_}" for id_ in IDS}
        local = {id_: prompts[id_] if i < equal else f"local {id_}" for i, id_ in enumerate(IDS)}
        full, *less = (
            replace(_cell("m", _level(level), 0.25, "accuracy"), prompts=of_cell)
            for level, of_cell in ((0.7, prompts), (0.6, local), (0.5, {}))
        )
        # As a page has them: programs that read what was hidden are no floor.
        short, none = (replace(cell, floors={}) for cell in less)
        groups = [
            _group("SCALAR-Easy", "scalar", [full]),
            _group("SCALAR-Easy local", "scalar", [short]),
            _group("SCALAR-Easy none", "scalar", [none]),
        ]
        found = standings_of(groups, ["SCALAR-Easy"], READING)
        assert found is not None
        [standing] = found.standings
        stated = sorted(gain.shortcut for _, gain in found.gains if gain.by == "model")
        assert (standing.gain is not None) == (LOCAL in stated)
        return stated

    assert gains(len(IDS) // 2) == ["local", "none"]
    assert not caplog.text
    assert gains(len(IDS) // 2 + 1) == ["none"]
    assert "no gain over the context 'local' is stated, because 21 of 40 prompts are the same" in caplog.text


def test_a_model_that_was_asked_other_samples_takes_nothing_from_the_others() -> None:
    """As many as the core has or more, but of one window of days, or chosen by hand."""
    others = (WHOLE, OF_CORE, replace(OF_CORE, model="core too"))
    found = _over_core(*others)
    for asked in (IDS[-16:], list(_OTHERS)[:12]):
        odd = _cell("odd", dict.fromkeys(asked, 0.9), 0.1, of=len(IDS))
        assert _over_core(*others, odd) == {**found, "odd": (None, None, 0)}


def test_the_models_of_bertscore_are_named_where_it_was_computed() -> None:
    def run(**options: str) -> Results:
        block = Block(run=RunRequest(model="hf"), rounds=(), prompt_versions=(), scores=())
        return Results(Path(), "m", block=block, options=options)

    assert scorers_of([run(bertscore_model="minilm"), run(bertscore_model="none"), run()]) == {"minilm", DEFAULT_MODEL}
    assert scorers_of([Results(Path(), "by lm_eval")]) == frozenset()


def test_intervals_hold_the_truth_where_authors_answer_alike() -> None:
    """Two settings of the same papers, three papers an author: neither doubles what is known."""
    rng = random.Random(5)
    truth, held, draws = (0.5 - 0.1) / 0.9, 0, 300
    authors = [f"Author {i // 2}" for i in range(len(IDS))]
    for _ in range(draws):
        shared = [rng.gauss(0, 0.1) for _ in range(len(IDS) // 2)]
        scores = {id_: 0.5 + shared[i // 2] + rng.gauss(0, 0.05) for i, id_ in enumerate(IDS)}
        again = {id_: value + rng.gauss(0, 0.05) for id_, value in scores.items()}
        groups = [
            _group(name, task, [_cell("m", own, 0.1, authors=authors)])
            for name, task, own in (("Abs-9K", "abs", scores), ("Title-10K", "title", again))
        ]
        over = _found(groups).standings[0].overall
        assert over is not None
        assert over.bounds is not None
        held += over.bounds[0] <= truth <= over.bounds[1]
    assert held / draws == pytest.approx(0.95, abs=0.035)


def test_few_authors_of_one_task_are_not_helped_by_many_of_another() -> None:
    """Twelve equal models: ten authors decide one noisy task, a hundred each of three quiet ones."""
    rng = np.random.default_rng(3)
    authors = [tuple(f"{task} {i}" for i in range(n)) for task, n in enumerate((10, 100, 100, 100))]

    def drawn() -> list[list[PlacedTask]]:
        return by_task(
            PlacedTask(
                f"s{task}",
                f"t{task}",
                names,
                2 * (0.5 + (0.4 if len(names) == 10 else 0.05) * rng.normal(size=len(names))),
                np.zeros(len(names)),
                np.full(len(names), 2),
            )
            for task, names in enumerate(authors)
        )

    over = difference_over(drawn(), drawn())
    assert over.freedom is not None
    assert 8 < over.freedom < 20
    held = [bounds[0] <= 0 <= bounds[1] for _ in range(300) if (bounds := difference_over(drawn(), drawn()).bounds)]
    assert sum(held) / len(held) > 0.93


def test_right_or_wrong_boards_have_no_bounds_where_all_is_right_and_near_it_hold_the_truth() -> None:
    right = _cell("right", dict.fromkeys(IDS[:24], 1.0), 0.25, "accuracy", of=24)
    wrong = _cell("wrong", dict.fromkeys(IDS[:24], 0.0), 0.25, "accuracy", of=24)
    groups = [_group(name, "scalar", [right, wrong]) for name in ("SCALAR-Easy", "SCALAR-Hard")]
    found = _found(groups, READING)
    assert [standing.overall and standing.overall.bounds for standing in found.standings] == [None, None]
    lead = found.differences["right", "wrong"]
    assert (lead.bounds, lead.p) == (None, None)
    # Of a part that nobody was asked to answer alone, no score counts.
    part = _cell("part", dict.fromkeys(IDS[:15], 0.9), 0.25, "accuracy", of=24)
    assert standings_of([_group("SCALAR-Easy", "scalar", [part])], ["SCALAR-Easy"], READING) is None
    rng, held, printed = random.Random(2), 0, 0
    for _ in range(400):
        scores = {id_: float(rng.random() < 0.97) for id_ in IDS}
        over = _found([_group("SCALAR-Easy", "scalar", [_cell("m", scores, 0.25, "accuracy")])], READING)
        interval_ = over.standings[0].overall
        assert interval_ is not None
        if interval_.bounds:
            printed += 1
            assert interval_.bounds[1] <= 1
            held += interval_.bounds[0] <= (0.97 - 0.25) / 0.75 <= interval_.bounds[1]
    assert printed > 200
    assert held / printed >= 0.93


def test_facts_of_models(tmp_path: Path) -> None:
    known = known_models()
    assert facts_of("meta-llama/Llama-3.1-8B-Instruct", known).organisation == "Meta"
    for same in ("Qwen__Qwen3-8B", "unsloth/Qwen3-8B-bnb-4bit", "/models/qwen3-8b/snapshots/abc123"):
        assert facts_of(same, known).parameters == "8B"
    assert facts_of("acme/own", known) == ModelFacts()
    # They are made from these makers' models, or came after them.
    for other in ("R1-Distill-Qwen-7B", "R1-0528-Qwen3-8B", "V3.1"):
        assert facts_of(f"deepseek-ai/DeepSeek-{other}", known) == ModelFacts()
    for other in ("microsoft/Phi-4-multimodal-instruct", "NousResearch/Hermes-3-Llama-3.1-8B", "gpt-4o-2024-11-20"):
        assert facts_of(other, known) == ModelFacts()
    assert facts_of("claude-3-5-haiku-20241022", known).organisation == "Anthropic"
    assert facts_of("mistralai/Mixtral-8x7B-Instruct-v0.1", known).organisation == "Mistral AI"
    assert facts_of("deepseek-ai/DeepSeek-R1", known).organisation == "DeepSeek"
    (tmp_path / "models.toml").write_text('"acme/own" = ["Acme", "1B", "MIT", "2026-01", "https://acme.example"]\n')
    assert facts_of("acme/own", known_models(tmp_path / "models.toml")).link == "https://acme.example"
    for text in ('"x" = 1\n', '"x" = ["a", "b", "c", "d", "javascript:alert(1)"]\n', "x"):
        (tmp_path / "models.toml").write_text(text)
        with pytest.raises(ReportError, match=r"models\.toml"):
            known_models(tmp_path / "models.toml")


@pytest.mark.filterwarnings("error")
def test_an_author_without_whom_no_room_is_above_the_floor_breaks_nothing() -> None:
    placed = PlacedTask("Abs-9K", "abs", ("Doe", "Roe"), np.array([1.0, 1.0]), np.array([0.0, 1.0]), np.array([1, 1]))
    assert placed.without(["Doe", "Roe"]).tolist() == [0.0, 1.0]
