"""How much is kept of what is recalled: two readers written by hand through the whole path, and intervals of shares."""

from __future__ import annotations

import csv
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_tasks import families
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.compat.scored_texts import Question, Scored
from lm_eval_tasks.evaluate import run as running
from lm_eval_tasks.evaluate.baselines import GeneratingLM
from lm_eval_tasks.families.recall.answering import bits_between
from lm_eval_tasks.stats import kept, ratios
from lm_eval_tasks.stats.kept import KeptShare, ScoredRow, kept_of, kept_over, reach_of, share_differences
from lm_eval_tasks.stats.opened import read_runs
from lm_eval_tasks.stats.ratios import ratio, ratio_difference, sums
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins.places import table_beside
from tests.helpers.evaluating import evaluate
from tests.helpers.served import Command

KNOWN, UNKNOWN = -0.05, -8.0
SIZES = {"Recall-4K": 4, "Recall-8K": 8}


class Reader(GeneratingLM):
    """A reader to whom a word is likely if it stands among the last words that it has read; each word is a token."""

    tokenizer_name = ""

    def __init__(self, remembers: int) -> None:
        super().__init__()
        self.remembers = remembers

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        raise NotImplementedError

    def likelihoods_of(self, question: Question) -> Scored:
        [text] = question.texts
        known = set(re.findall(r"\w+", question.prompt)[-self.remembers :])
        pieces = re.findall(r"\s*\S+", text)
        logs = [KNOWN if known.issuperset(re.findall(r"\w+", piece)) else UNKNOWN for piece in pieces]
        return Scored((Likelihood.of(logs, [len(piece.encode()) for piece in pieces]),), len(pieces))


def asked(reader: Reader, dataset: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(running, "open_model", lambda *arguments: reader)
    tasks = ["academiceval_recall"]
    evaluate("hf", "", tasks, {"dataset": str(dataset), "bertscore_model": "none"}, None, output)
    return kept_of(read_runs([output]))


@pytest.mark.slow
def test_a_reader_that_forgets_nothing_holds_all_and_one_that_forgets_loses(
    recalled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    whole = asked(Reader(10**6), recalled, tmp_path / "whole", monkeypatch)
    assert [(one.configuration, one.verdict) for one in whole] == [
        ("Recall-Alone", "-"),
        ("Recall-4K", "held"),
        ("Recall-8K", "held"),
        *((f"Recall-Places-8K {place}", "held") for place in ("first", "middle", "last")),
    ]
    assert reach_of(whole, SIZES).startswith("held to Recall-8K, no size lost")
    assert whole[0].recalled.mean > 5
    for one in whole[1:3]:
        assert one.share is not None
        assert one.share.mean == pytest.approx(1, abs=0.02)
        assert {"first", "middle", "last", "stated once", "stated more often"} == set(one.parts)
        assert one.parts["stated once"] == pytest.approx(1, abs=0.02)
    short = asked(Reader(1500), recalled, tmp_path / "short", monkeypatch)
    at = {one.configuration: one for one in short}
    assert at["Recall-8K"].verdict == at["Recall-Places-8K first"].verdict == "lost"
    assert at["Recall-Places-8K last"].verdict == "held"
    parts = at["Recall-8K"].parts
    assert parts["first"] < 0.1 < 0.9 < parts["last"]
    assert "lost from Recall-" in reach_of(short, SIZES)
    code, out, _ = command("show", tmp_path / "short")
    assert code == 0
    assert "lost" in out
    code, out, _ = command("compare", tmp_path / "whole", tmp_path / "short")
    assert code == 0
    assert "share kept" in out
    assert "span_bits" not in out
    code, _, _ = command("report", tmp_path / "short", "-o", tmp_path / "site")
    assert code == 0
    [plot] = (tmp_path / "site" / "plots").glob("kept_*.csv")
    verdicts = {row["configuration"]: row["verdict"] for row in csv.DictReader(plot.read_text().splitlines())}
    assert verdicts == {one.configuration: one.verdict for one in short[1:3]}
    (tmp_path / "killed").mkdir()
    shutil.copy(tmp_path / "short" / "journal.jsonl", tmp_path / "killed")
    code, out, _ = command("report", tmp_path / "killed", "-o", tmp_path / "site")
    assert (code, "0 models" in out) == (0, True)


def test_a_program_without_an_answer_leaves_no_journal(recalled: Path, tmp_path: Path, command: Command) -> None:
    task = ("--tasks", "academiceval_recall_4k", "--dataset", recalled)
    code, _, err = command("eval", "--model", "lead", *task, "--output", tmp_path / "lead")
    assert (code, "no score" in err, list(tmp_path.rglob("*.jsonl"))) == (1, True, [])


@pytest.mark.slow
def test_the_bare_harness_asks_by_likelihood(recalled: Path) -> None:
    """Without the model of a score that such tasks do not have."""
    asked = {"academiceval_recall_8k": "text_bits", "academiceval_abs_9k_bpb": "bits_per_byte"}
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata={"dataset": str(recalled)})
    found = simple_evaluate(model="dummy", tasks=list(asked), task_manager=manager, limit=3, bootstrap_iters=0)
    assert all(found["results"][task][f"{score},score"] > 0 for task, score in asked.items())


@pytest.mark.slow
def test_the_core_asks_recall_of_models_that_score_by_likelihood(
    recalled: Path, tmp_path: Path, command: Command
) -> None:
    def core(model: str, edition: str = "academiceval_core") -> tuple[int, str, str]:
        options = ("--bertscore", "none", "--limit", "2", "--output", tmp_path / model)
        return command("eval", "--model", model, "--tasks", edition, "--dataset", recalled, *options)

    code, out, _ = core("ppmd")
    assert code == 0
    assert {name for name in re.findall(r"academiceval_core_\w+", out)} == {
        f"academiceval_core_recall_{name}" for name in ("alone", "without", "8k")
    }
    for model, edition in (("lead", "academiceval_core"), ("ppmd", "academiceval_core_tiny")):
        code, _, err = core(model, edition)
        assert code == 1
        assert err.strip().count("\n") <= 1
    # Nothing of it is about answers, in a plan as in a run.
    asked = ("--tasks", "academiceval_core", "--dataset", recalled, "--metadata", "reasoning_tokens=9")
    assert "has no rows of what academiceval_core would ask" in command("plan", *asked)[2]


def test_bits_of_a_span_are_those_of_all_tokens_that_overlap_it() -> None:
    text = "It is 12.5 % of LoRA, Ünits"
    pieces = ["It", " is", " 1", "2.5", " %", " of", " Lo", "RA,", " Ün", "its"]
    likelihood = Likelihood.of([-math.log(2)] * len(pieces), [len(piece.encode()) for piece in pieces])
    for said, bits, straddles in (("12.5 %", 3, False), ("LoRA", 2, True), ("Ünits", 2, False), ("It", 1, False)):
        start = text.index(said)
        assert bits_between(likelihood, text, start, start + len(said)) == (pytest.approx(bits, abs=1e-4), straddles)


def test_a_token_without_bytes_belongs_to_the_character_before_it() -> None:
    likelihood = Likelihood.of_bits([1, 10, 100, 1000, 10000], [2, 3, 2, 0, 3])
    bits, _ = bits_between(likelihood, "On Zyβ we", 3, 6)
    assert bits == pytest.approx(1110, abs=0.01)


def test_a_size_without_a_share_is_named() -> None:
    share = ratio(sums([1.0] * 30, [1.0] * 30, list(map(str, range(30)))))
    known = [KeptShare(f"Recall-{size}", 1.0, share, held, None, {}) for size, held in (("4K", share), ("8K", None))]
    said = reach_of([*known, replace(known[0], configuration="Recall-16K")], {**SIZES, "Recall-16K": 16})
    assert said.startswith("held to Recall-16K, no size lost") and said.endswith("not stated: Recall-8K")


def test_a_size_without_the_rows_that_were_asked_alone_is_not_told_of() -> None:
    known = families.of_task("recall").kept
    assert known is not None
    ids = [str(i) for i in range(30)]
    alone, without = ({id_: ScoredRow(score, id_, "first") for id_ in ids} for score in (1.0, 9.0))
    others = {"x": ScoredRow(2.0, "x", "first")}
    asked = {known.alone: alone, known.without: without, "Recall-4K": alone, "Recall-8K": others}
    assert [each.configuration for each in kept_over(asked, known)] == [known.alone, "Recall-4K"]
    assert kept_over({known.alone: alone, known.without: others}, known) == []


@pytest.mark.parametrize(("alone", "sized", "asked", "ended"), table_beside(__file__, "ended.json"))
def test_what_ended_the_sizes_is_told(alone: tuple[int, ...], sized: tuple[int, ...], asked: str, ended: str) -> None:
    """By how many rows there are, how many the run asks, how many the round has, and how many tokens they have, of a window of 8,192."""
    known = families.of_task("recall").kept
    samples: list[Any] = [
        SimpleNamespace(row=SimpleNamespace(setting=setting, positions=positions, of=of, tokens_before=sum(tokens)))
        for setting, (count, positions, of, *tokens) in (("Recall-Alone", alone), ("Recall-4K", sized))
        for _ in range(count)
    ]
    assert known is not None and kept._ended(samples, [asked], known, 8192) == ended


def smooth(rng: np.random.Generator, authors: Any) -> tuple[Any, Any]:
    """Draw bits that rows recall and shares that they keep, which differ a little between authors and rows."""
    alone = rng.gamma(4, 3, authors.max() + 1)[authors] + rng.normal(0, 2, len(authors))
    return alone, 0.85 + rng.normal(0, 0.15, authors.max() + 1)[authors] + rng.normal(0, 0.1, len(authors))


def steep(rng: np.random.Generator, authors: Any) -> tuple[Any, Any]:
    """Draw rows that keep all, or next to nothing."""
    return rng.lognormal(2.5, 0.4, len(authors)), np.where(rng.random(len(authors)) < 0.1875, 0.2, 1.0)


@pytest.mark.parametrize("world", [smooth, steep])
def test_intervals_of_shares_hold_the_truth(
    world: Callable[[np.random.Generator, Any], tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of forty authors with one to three rows, whose recalled bits and shares differ."""
    monkeypatch.setattr(ratios, "_DRAWS", 1000)
    rng = np.random.default_rng(11)
    contained = held = 0
    for _ in range(1000):
        authors = np.repeat(np.arange(40), rng.integers(1, 4, 40))
        alone, shares = world(rng, authors)
        over = ratio(sums(list(shares * alone), list(alone), list(map(str, authors))))
        assert over.bounds
        contained += over.bounds[0] <= 0.85 <= over.bounds[1]
        held += over.bounds[0] >= 0.85
    assert 0.93 <= contained / 1000 <= 0.98
    assert held / 1000 < 0.05


def scores_of(bits: Any, authors: Any) -> dict[str, ScoredRow]:
    return {
        str(i): ScoredRow(float(score), str(author))
        for i, (score, author) in enumerate(zip(bits, authors, strict=True))
    }


@pytest.mark.parametrize(
    ("recalled", "is_stated"), [([10.0] * 30, True), ([2.0] * 24 + [40.0] * 6, False), ([-10.0] * 30, False)]
)
def test_a_share_needs_authors_who_recall_alike(recalled: list[float], is_stated: bool) -> None:
    known, authors, alone = families.of_task("recall").kept, range(30), np.array(recalled)
    assert known is not None
    rows = {known.alone: 50 - alone, known.without: alone * 0 + 50, "Recall-4K": 50 - alone * 0.9}
    _, at_4k = kept_over({name: scores_of(bits, authors) for name, bits in rows.items()}, known)
    assert bool(at_4k.share) == is_stated
    assert not at_4k.share or at_4k.share.mean == pytest.approx(0.9)


def test_bounds_do_not_depend_on_the_order_of_rows_and_equal_readers_do_not_differ() -> None:
    rng = np.random.default_rng(2)
    alone, authors = rng.lognormal(2.5, 0.3, 40), np.arange(40) // 2 * 2 % 36
    kept_bits, other_bits = (alone * (rng.random(40) > 0.15) for _ in range(2))
    own = sums(list(kept_bits), list(alone), list(map(str, authors)))
    turned = sums(list(kept_bits[::-1]), list(alone[::-1]), list(map(str, authors[::-1])))
    assert ratio(own).bounds == pytest.approx(ratio(turned).bounds)
    assert ratio_difference(own, own).p == 1.0
    apart = ratio_difference(own, sums(list(other_bits), list(alone), list(map(str, authors))))
    assert apart.bounds and apart.bounds[0] < apart.mean < apart.bounds[1]
    lost = ratio_difference(own, sums(list(alone * 0.1), list(alone), list(map(str, authors))))
    assert lost.high is not None and lost.high < -0.3
    assert lost.p is not None and lost.p < 0.01
    unsure = ratio(sums([1.0] * 42, [8.0] * 30 + [-8.0] * 12, list(map(str, range(42)))))
    assert unsure.bounds is None and unsure.missing


def sampled(setting: str, id_: str, score: float | None) -> Any:
    family = families.of_task("recall")
    scores = {} if score is None else {"span_bits": score}
    row = SimpleNamespace(
        setting=setting, family=family, ranking=SimpleNamespace(name="span_bits"), task="recall", chat=False
    )
    return SimpleNamespace(row=row, scores=scores, id=id_, cluster=id_, identity=id_)


def test_no_share_is_stated_where_a_row_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "answering_of", lambda task: SimpleNamespace(part_of=lambda row: "first"))
    bits = {"Recall-Alone": 5.0, "Recall-Without": 15.0, "Recall-4K": 6.0}
    samples = [sampled(name, str(i), score + i % 3 / 9) for name, score in bits.items() for i in range(40)]
    assert kept_of(samples)[1].verdict == "held"
    assert len(list(share_differences(samples, samples))) == 1
    lacking = [*samples[:-1], sampled("Recall-4K", "39", None)]
    assert [each.verdict for each in kept_of(lacking)] == ["-", "-"]
    assert list(share_differences(samples, lacking)) == []
    # Through a chat template other bits are recalled: told apart, and compared with none without it.
    for sample in (chat := [sampled(each.row.setting, each.id, each.scores["span_bits"] + 1) for each in samples]):
        sample.row.chat = True
    assert len(kept_of([*chat, *samples])) == 4
    assert list(share_differences(samples, chat)) == []
    assert [name for name, *_ in share_differences([*chat, *samples], [*samples, *chat])] == [
        "Recall-4K",
        "Recall-4K chat",
    ]


@pytest.mark.parametrize(("kept", "reach"), [(1.0, "held to Recall-16K, no size lost"), (0.4, "lost from Recall-16K")])
def test_a_size_between_others_that_was_not_asked_is_named(kept: float, reach: str) -> None:
    """As in the core, which asks 8K, 32K and 128K."""
    authors = list(map(str, range(30)))
    whole, part = (ratio(sums([share] * 30, [1.0] * 30, authors)) for share in (1.0, kept))
    known = [KeptShare(f"Recall-{size}", 1.0, whole, of, None, {}) for size, of in (("4K", whole), ("16K", part))]
    said = reach_of(known, {**SIZES, "Recall-16K": 16})
    assert reach in said
    assert "asked: Recall-4K, Recall-16K, but not Recall-8K" in said
