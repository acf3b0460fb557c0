"""Reading families in a round over the made-up world: its planted answers, readers who know them, copies, orders."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from builder.dataset.folder import core_of
from builder.dataset.publishable import publishable
from builder.families import match as match_rows
from builder.families.match import masks as match_masks
from builder.families.next import NextAsker
from builder.families.reading import asking
from builder.ids import bare_id
from builder.records import ReadingReason
from builder.store import Store
from lm_eval_tasks.base.contract import PAPERS
from lm_eval_tasks.base.errors import BudgetError, DatasetError, OptionError
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.families.reading import hook as reading_hook
from lm_eval_tasks.families.reading.answering import write_list, write_pairs
from lm_eval_tasks.families.reading.prompt import prompt_of
from lm_eval_tasks.families.reading.reading_row import ReadingRow
from lm_eval_tasks.families.registry import READING as READING_BOARD
from lm_eval_tasks.families.registry import counted
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.families.walk.answering import f1_of
from lm_eval_tasks.samples.sample import read
from standins.llama import make_llama
from standins.openai_server import serve
from standins.rounds import SMALL_SOURCE, build, hashes, prepare, small_round
from tests.builder.test_pipeline import rows
from tests.helpers.evaluating import evaluate
from tests.helpers.pages import ROOT
from tests.helpers.planted import planted_answer, world_of
from tests.helpers.served import Command
from tests.helpers.typed_rows import reading_answering

pytestmark = pytest.mark.slow
Row = Mapping[str, Any]
NAMES = ("Walk-128K", "Next-128K", "Match-128K")
TASKS = {name: name.partition("-")[0].lower() for name in NAMES}
CHAT = Generation(apply_chat_template=True)
READING = {"configurations": list(NAMES), "contexts": 3}


@pytest.fixture(scope="module")
def with_reading(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A round over the small world, in which everybody cites everybody, with three families."""
    place = tmp_path_factory.mktemp("reading")
    shutil.copytree(world / "work", place / "work")
    round_ = small_round(place, settings=("Title-10K",), reading=READING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "_AGAIN", 0.4)
        patch.setattr(match_masks, "MOST_CITED", 50)
        patch.setattr(match_masks, "FEWEST", 2)
        patch.setattr(match_rows, "FEWEST", 2)
        prepare(round_, LocalEngine(2))
        build(round_)
        yield place


def texts_of(folder: Path) -> dict[str, str]:
    return {row["id"]: row["text"] for row in rows(folder, PAPERS)}


def planted(folder: Path, name: str) -> dict[str, list[int]]:
    world, texts = world_of(0, 20, 50), texts_of(folder)
    return {row["id"]: planted_answer(row, texts, world) for row in rows(folder, name)}


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_that_the_world_has_planted(with_reading: Path, name: str) -> None:
    folder = with_reading / "academiceval"
    of_rows = {row["id"]: row["answer"] for row in rows(folder, name)}
    assert len(of_rows) >= 2
    assert of_rows == planted(folder, name)


def test_what_a_context_is_made_of(with_reading: Path) -> None:
    folder = with_reading / "academiceval"
    for name in NAMES:
        for row in load_dataset(str(folder), name)["test"]:
            assert 0.85 <= row["input_tokens"] / (128 * 1024) <= 0.93
            assert len({paper["id"] for paper in row["papers"]}) == len(row["papers"])
            assert all(paper["published"] <= row["published"] for paper in row["papers"])
            assert row["papers"][0]["id"] == row["paper_id"]
            assert all(1 <= label <= row["labels"] for label in (*row["answer"], *row["shortcut"]))
            if name != "Match-128K":
                assert all(paper["published"] < row["published"] for paper in row["papers"][1:])
    walk = rows(folder, "Walk-128K")
    assert all(0 <= len(row["answer"]) < len(row["papers"]) for row in walk)
    assert len({row["kind"] for row in walk}) >= 4
    # The texts are stored once, whatever the number of rows that show them.
    shown = sum(sum(part["end"] - part["start"] for part in row["parts"]) for row in walk)
    assert sum(map(len, texts_of(folder).values())) < shown / 3
    card = (folder / "README.md").read_text()
    assert all(f"| Walk-128K | {row['kind'].replace('_', ' ')} |" in card for row in walk)
    assert "| Match-128K | masks |" in card


def test_rows_of_a_context_share_the_beginning_of_their_prompts(with_reading: Path) -> None:
    folder = with_reading / "academiceval"
    texts = {(PAPERS, id_): text for id_, text in texts_of(folder).items()}
    for name, task in TASKS.items():
        common: dict[tuple[str, int], set[str]] = {}
        for row in rows(folder, name):
            first, second = prompt_of(typed(ReadingRow, row), texts, reading_answering(task))
            common.setdefault((row["context"], row["order"]), set()).add(first)
            assert len(first) > 50 * len(second) or task == "match"
        assert all(len(beginnings) == 1 for beginnings in common.values())


def test_another_order_changes_labels_alone(with_reading: Path) -> None:
    folder = with_reading / "academiceval"
    every = {row["id"]: row for name in NAMES for row in rows(folder, name) if name == "Walk-128K"}
    again = [row for row in every.values() if row["order"]]
    assert again
    for row in again:
        first = every[row["id"].removesuffix("r")]
        assert row["works"] == first["works"]
        assert row["parts"] != first["parts"]
        assert named(row) == named(first)


def named(row: Row) -> set[str]:
    return {row["papers"][row["parts"][label - 1]["paper"]]["id"] for label in row["answer"]}


def test_the_same_round_gives_the_same_bytes(with_reading: Path, tmp_path: Path) -> None:
    build(small_round(with_reading, settings=("Title-10K",), reading=READING, output=tmp_path / "again"))
    assert hashes(tmp_path / "again") == hashes(with_reading / "academiceval")


def answers(folder: Path, name: str, answer: Callable[[Row, list[int]], str]) -> dict[str, str]:
    """Prompt -> what a reader answers who is given the row and the planted answer."""
    texts = {(PAPERS, id_): text for id_, text in texts_of(folder).items()}
    right = planted(folder, name)
    return {
        "".join(prompt_of(typed(ReadingRow, row), texts, reading_answering(TASKS[name]))): answer(row, right[row["id"]])
        for row in rows(folder, name)
    }


def words(row: Row) -> tuple[str, str]:
    return ("Mask", "Paper") if row["tags"] else ("Passage", "Passage")


def know(row: Row, right: list[int]) -> str:
    if not row["asked"]:
        return f"They are {write_list(right, 'Paper')}"
    return write_pairs(dict(zip(row["asked"], right, strict=True)), *words(row))


def half(row: Row, right: list[int]) -> str:
    """A reader who sees the first half of the paper set."""
    seen = range(1, row["labels"] // 2 + 1)
    if not row["asked"]:
        return write_list([label for label in right if label in seen], "Paper")
    pairs = {label: answer for label, answer in zip(row["asked"], right, strict=True) if answer in seen}
    return write_pairs(pairs, *words(row))


def test_readers_score_what_they_know(with_reading: Path, tmp_path: Path) -> None:
    folder = with_reading / "academiceval"
    tasks = [f"academiceval_{task}_128k" for task in TASKS.values()]
    found: dict[tuple[str, str, str], float] = {}
    for reader in (know, half):
        known = {prompt: text for name in NAMES for prompt, text in answers(folder, name, reader).items()}
        with serve(lambda body, known=known: known[body["messages"][-1]["content"]]) as server:  # type: ignore[misc]
            arguments = f"model=tiny,base_url={server.url}/chat/completions,num_concurrent=1"
            metadata = {"dataset": str(folder)}
            place = tmp_path / reader.__name__
            scores = evaluate("local-chat-completions", arguments, tasks, metadata, SampleSelection(None), place, CHAT)
        # One context after another: plain lm-eval sorts by length, which mixes them.
        asked = [body["messages"][-1]["content"][:50_000] for body in server.requests]
        assert sum(before != after for before, after in pairwise(asked)) == len(set(asked)) - 1
        assert len(NAMES) < len(set(asked)) < len(asked)
        found |= {(reader.__name__, score.task, score.metric): score.value for score in scores}
    assert found["know", "academiceval_walk_128k", "exact"] == found["know", "academiceval_walk_128k", "set_f1"] == 1.0
    assert found["know", "academiceval_next_128k", "share_right"] == 1.0
    assert found["know", "academiceval_match_128k", "share_right"] == 1.0
    # What is lost is what the positions of the answers say.
    walk = [(row, answer) for row in rows(folder, "Walk-128K") for answer in [set(row["answer"])]]
    kept = [{label for label in answer if label <= row["labels"] // 2} for row, answer in walk]
    exact = sum(answer == some for (_, answer), some in zip(walk, kept, strict=True)) / len(walk)
    assert found["half", "academiceval_walk_128k", "exact"] == pytest.approx(exact)
    f1 = sum(f1_of(some, answer) for (_, answer), some in zip(walk, kept, strict=True)) / len(walk)
    assert found["half", "academiceval_walk_128k", "set_f1"] == pytest.approx(f1)
    for name, task in (("Next-128K", "next"), ("Match-128K", "match")):
        shares = [
            sum(label <= row["labels"] // 2 for label in row["answer"]) / len(row["answer"])
            for row in rows(folder, name)
        ]
        assert found["half", f"academiceval_{task}_128k", "share_right"] == pytest.approx(sum(shares) / len(shares))
    # No text is in the log: neither the prompts nor what they were put together from.
    log = sum(file.stat().st_size for file in (tmp_path / "know").glob("samples_*.jsonl"))
    assert log < sum(map(len, texts_of(folder).values()))


def test_shorter_contexts_show_what_they_say(with_reading: Path) -> None:
    folder, dataset = with_reading / "academiceval", {"dataset": str(with_reading / "academiceval")}

    def prompts(setting: str, context: str) -> list[str]:
        docs = reading_hook.load(setting, 512, context=context, **dataset)["test"]
        return [reading_hook.doc_to_text(doc) for doc in docs]

    walk = rows(folder, "Walk-128K")
    for row, none, retrieved in zip(walk, prompts("Walk-128K", "none"), prompts("Walk-128K", "retrieved"), strict=True):
        assert "## Abstract" not in none
        assert none.count("## References") == retrieved.count("## References") == row["labels"]
        assert max(len(none), len(retrieved)) < row["input_tokens"]  # characters of these, tokens of the whole
        for label in row["shortcut"] if len(row["works"]) == 1 else ():
            own = retrieved.partition(f"=== Paper {label} ===")[2].partition("\n===")[0]
            assert title_key(row["works"][0]["title"]) in title_key(own)
    for row, text in zip(rows(folder, "Next-128K"), prompts("Next-128K", "retrieved"), strict=True):
        assert all(f"=== Passage {label} ===" in text for label in row["asked"])
        assert len(row["asked"]) < text.count("=== Passage ") < row["labels"]
    for row, none, local in zip(
        rows(folder, "Match-128K"), prompts("Match-128K", "none"), prompts("Match-128K", "local"), strict=True
    ):
        assert "## Abstract" not in none
        assert "[MASK 1]" not in none.partition("=== Question")[0]
        assert local.count("## Abstract") == row["labels"]
        assert all(f"[MASK {mask}]" in local.partition("=== Question")[0] for mask in row["asked"])
    with pytest.raises(OptionError, match="choose retrieved, full"):
        prompts("Next-128K", "none")


def test_a_question_in_two_orders_is_counted_once(with_reading: Path) -> None:
    folder = with_reading / "academiceval"
    [counted] = [each for each in read_manifest(folder).reports if each.stage == "questions Walk-128K"]
    asked = [row["id"] for row in rows(folder, "Walk-128K")]
    assert counted.kept == sum(not id_.endswith("r") for id_ in asked) < len(asked)


def test_the_manifest_repeats_the_core(with_reading: Path) -> None:
    manifest = read_manifest(with_reading / "academiceval")
    counts = {configuration.name: configuration.statistics("test").samples for configuration in manifest.configurations}
    assert [(entry.configuration, entry.samples, entry.shortcut) for entry in manifest.core] == [
        (name, min(most, counts[name]), "retrieved") for name, most in (("Walk-128K", 300), ("Next-128K", 100))
    ]
    # Match joins with enough masks that only full texts solve.
    [match_128k] = [configuration for configuration in manifest.configurations if configuration.name == "Match-128K"]
    test = match_128k.splits["test"]
    masks = replace(test.statistics.kinds["masks"], body_masks=100)
    more = replace(test, statistics=replace(test.statistics, kinds={"masks": masks}))
    [joined] = core_of([replace(match_128k, splits={"test": more})])
    assert (joined.configuration, joined.shortcut) == ("Match-128K", "local")
    assert counted(["Match-128K"], READING_BOARD, [joined.configuration]) == ("Match-128K",)
    assert counted(["Match-128K"], READING_BOARD) == ()


def test_all_programs_are_runs_of_a_round_and_score_what_the_card_says(
    with_reading: Path, command: Command, tmp_path: Path
) -> None:
    folder = with_reading / "academiceval"
    tasks = ",".join(("academiceval_title_10k", *(f"academiceval_{task}_128k" for task in TASKS.values())))
    line = ("eval", "--model", "programs", "--tasks", tasks, "--dataset", folder)
    code, _, err = command(*line, "--bertscore", "none", "--output", tmp_path)
    assert code == 0, err
    of = {run.name: read([run]) for run in tmp_path.iterdir()}
    assert {name: {sample.task for sample in samples} for name, samples in of.items()} == {
        **{name: {"Title-10K"} for name in ("lead", "random-sentence", "function-words")},
        **{name: {"Walk-128K"} for name in ("title-search", "places", "rules")},
        "bm25-parts": {"Next-128K", "Match-128K"},
        "blind": set(NAMES),
    }
    kinds = {
        configuration.name: configuration.statistics("test").kinds
        for configuration in read_manifest(folder).configurations
    }
    for model, setting, metric in (
        ("title-search", "Walk-128K", "exact"),
        ("bm25-parts", "Next-128K", "share_right"),
        ("bm25-parts", "Match-128K", "share_right"),
    ):
        for kind, known in kinds[setting].items():
            scores = [
                sample.scores[metric]
                for sample in of[model]
                if sample.task == setting and sample.row.own.kind == kind and not sample.row.own.order
            ]
            assert len(scores) == known.n
            assert sum(scores) / known.n == pytest.approx(known.shortcut.mean, abs=1e-4)
    blind = [sample for sample in of["blind"] if sample.task == "Walk-128K"]
    assert all(sample.scores["exact"] == sample.scores["exact_blind"] for sample in blind)
    scalar = {sample.row.paper: sample.cluster for sample in of["blind"]}
    assert all(scalar[sample.row.paper] == sample.cluster for sample in blind)
    code, out, err = command("compare", tmp_path / "title-search", tmp_path / "rules")
    assert (code, "title-search" in out) == (0, True), err


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_script_without_this_package_asks_and_scores_the_same(
    with_reading: Path, command: Command, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """In this process; tests/lm_eval_tasks/test_portable.py runs the script in one of its own."""
    folder, file = with_reading / "academiceval", tmp_path / "answers.jsonl"
    assert command("export", folder, "--setting", name, "--output", tmp_path / "out.jsonl")[0] == 0
    exported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    # Every other row is answered right.
    answers = [{**row, "answer": f"So: {row['target'] if i % 2 else 'none'}"} for i, row in enumerate(exported)]
    file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    assert command("score", file, "--dataset", folder, "--output", tmp_path / "run")[0] == 0

    monkeypatch.syspath_prepend(ROOT / "docs")
    monkeypatch.setattr("sys.argv", ["portable.py", str(folder), name, str(file)])
    capsys.readouterr()
    runpy.run_path(str(ROOT / "docs" / "portable.py"), run_name="__main__")
    lines = {row["id"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert {id_: line["prompt"] for id_, line in lines.items()} == {
        row["id"]: row["messages"][0]["content"] for row in exported
    }
    strict = "exact_strict" if name.startswith("Walk") else "share_right_strict"
    ours = {sample.row.id: sample.scores[strict] for sample in read([tmp_path / "run"])}
    assert sum(ours.values()) == len(ours) // 2 > 0
    assert {id_: line["score"] for id_, line in lines.items()} == ours


def test_a_context_is_never_cut(with_reading: Path, tmp_path: Path) -> None:
    make_llama(tmp_path / "llama")
    arguments = {
        "dataset": str(with_reading / "academiceval"),
        "tokenizer": str(tmp_path / "llama"),
        "max_length": 32768,
    }
    with pytest.raises(BudgetError, match="never cut"):
        reading_hook.load("Walk-128K", 512, size=1, **arguments)


def test_a_setting_of_another_family_is_refused(with_reading: Path) -> None:
    with pytest.raises(OptionError, match="another family"):
        reading_hook.load("Walk-128K", 512, dataset=str(with_reading / "academiceval"), config="Next-128K")


def test_copies_hold_no_answer_that_they_must_not_and_can_be_filled(
    with_reading: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, public = with_reading / "academiceval", tmp_path / "public"
    publishable(folder, public, "redistributable")
    assert all("creativecommons" in row["license"] for row in rows(public, PAPERS))
    by_id = [row for name in NAMES for row in rows(public, f"{name}-ids")]
    assert by_id
    assert not any("title" in row or "title" in work for row in by_id for work in row["works"])
    assert any(row["answer"] or row["shortcut"] for row in by_id)
    with pytest.raises(DatasetError):
        reading_hook.load("Walk-128K", 512, dataset=str(public))
    (tmp_path / "round.toml").write_text(
        f'round = "2026.11"\nseed = 7\nworkspace = "{with_reading / "work"}"\n{SMALL_SOURCE}'
    )
    code, _, err = command("fill", public, tmp_path / "round.toml", "-o", tmp_path / "whole")
    assert code == 0, err
    filled = hashes(tmp_path / "whole")
    assert {name: filled[name] for name in filled if "128K" in name or PAPERS in name} == {
        name: digest for name, digest in hashes(folder).items() if "128K" in name or PAPERS in name
    }
    # Without the text of one paper, no row that shows it counts as complete.
    walked = {paper["id"] for row in rows(folder, "Walk-128K") for paper in row["papers"]}
    lost = next(row["id"] for row in rows(public, f"{PAPERS}-ids") if row["id"] in walked)
    documents = Store.documents
    monkeypatch.setattr(Store, "documents", lambda store, id_: [] if id_ == bare_id(lost) else documents(store, id_))
    assert command("fill", public, tmp_path / "round.toml", "-o", tmp_path / "part")[0] == 0
    shown = [paper["id"] for name in NAMES for row in rows(tmp_path / "part", name) for paper in row["papers"]]
    assert lost not in shown
    lacking = sum(one.lacking for one in read_manifest(tmp_path / "part").configurations if one.name == "Walk-128K")
    assert lacking == len(rows(folder, "Walk-128K")) - len(rows(tmp_path / "part", "Walk-128K")) > 0


def test_reasons_are_counted_and_a_size_that_a_program_answers_is_not_offered(
    with_reading: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NextAsker, "most_floor", -0.1)
    reading = {"configurations": ["Walk-1M", "Match-128K", "Next-8K"], "contexts": 2}
    folder = tmp_path / "few"
    outcome = build(small_round(with_reading, settings=("Title-10K",), reading=reading, output=folder))
    assert all(report.total > 0 for report in outcome.reports)
    reports = {report.stage: report for report in outcome.reports}
    assert set(reports["Walk-1M"].dropped) <= set(ReadingReason.__args__)  # type: ignore[attr-defined]
    assert reports["Walk-1M"].dropped["context_not_filled"] > 0
    assert reports["Next-8K"].dropped["high_floor"] > 0
    assert reports["Next-8K"].kept == 0
    assert not (folder / "Next-8K").exists()
    with pytest.raises(ValueError, match="Next-8K"):
        load_dataset(str(folder), "Next-8K")
