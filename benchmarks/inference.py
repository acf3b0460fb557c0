"""How well contamination is found: memorisation planted in simulated runs with real score distributions.

  python benchmarks/inference.py [DATA] [--quick]

DATA: default ../shared/data. Papers' difficulties and their noise are drawn from the ROUGE-L of two baselines on the real papers of `lab`
(docs/real_input.md); four models with cut-offs half a year apart are run on n papers of three years. A share of the papers up to a model's
cut-off is memorised, which raises its score to 0.8. Power is at p < 0.05, over 500 draws. Last, how well anchors link two
rounds. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["HF_HUB_OFFLINE"] = "1"

from benchmarks.report_card import made  # noqa: E402
from lm_eval_tasks.evaluate.run import evaluate  # noqa: E402
from lm_eval_tasks.samples.row import PromptRow  # noqa: E402
from lm_eval_tasks.samples.sample import Sample, read  # noqa: E402
from lm_eval_tasks.study.contamination import Effect, Observation, effect  # noqa: E402
from lm_eval_tasks.study.linking import Linked, link, link_task  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"
MONTHS, CUTOFFS = 36, (6, 12, 18, 24)
MEMORISED = 0.8
SIZES = (200, 500, 2000)
SHIFT, TRUTH, CHANGED = 0.03, 0.3, 0.05
SKILLS = {"a1": 0.18, "a2": 0.2, "a3": 0.22, "a4": 0.25, "new": TRUTH}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="40 draws at one size")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.exit(1, f"error: no folder {arguments.data}\n")
    with tempfile.TemporaryDirectory() as place:
        real = real_scores(arguments.data, Path(place))
    draws, sizes = (40, (500,)) if arguments.quick else (500, SIZES)
    figures: dict[str, float] = {}
    for n in sizes:
        ending = "" if n == 500 else f"_{n}"
        for share in (1, 5, 20):
            found = [simulated(n, share / 100, seed, real) for seed in range(draws)]
            figures[f"power_{share}{ending}"] = round(float(np.mean([is_found(one) for one, _ in found])), 3)
        none = [simulated(n, 0.0, seed, real) for seed in range(draws)]
        figures[f"false_alarms{ending}"] = round(float(np.mean([is_found(one) for one, _ in none])), 3)
        both = none + found
        figures[f"coverage{ending}"] = round(float(np.mean([holds(one, truth) for one, truth in both])), 3)
    print(json.dumps({**figures, **linking(draws, real), **halves(draws, real)}))


def linking(draws: int, real: np.ndarray) -> dict[str, float]:
    """A second round that is 3 points easier, put on the scale of the first by four anchors; 200 papers in each."""
    found = [linked_once(seed, real) for seed in range(draws)]
    errors = [one.value - TRUTH for one in found]
    held = [one.low is not None and one.high is not None and one.low <= TRUTH <= one.high for one in found]
    raw = [one.raw - one.value for one in found]
    return {
        "link_bias": round(float(np.mean(errors)), 5),
        "link_coverage": round(float(np.mean(held)), 3),
        "shift_recovered": round(float(np.mean(raw)), 4),
    }


def halves(draws: int, real: np.ndarray) -> dict[str, float]:
    """One round of 400 papers split at random, one half put on the scale of the other; and how often a changed anchor is named."""
    errors, held, named = [], [], []
    for seed in range(draws):
        chance = np.random.default_rng([seed, 11])
        papers = real[chance.integers(0, len(real), 400)].mean(axis=1)
        papers = papers - papers.mean()
        spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
        order = chance.permutation(400)
        scores = {
            model: {f"{i}": (float(skill + papers[i] + chance.normal(0, spread)), f"{i // 2}") for i in range(400)}
            for model, skill in SKILLS.items()
        }
        first, later = (
            {model: {f"{i}": own[f"{i}"] for i in part} for model, own in scores.items()}
            for part in (order[:200], order[200:])
        )
        anchors = [model for model in SKILLS if model != "new"]
        _, found = link_task("half", "made up", first, later, anchors)
        one = next(row for row in found if row.model == "new")
        errors.append(one.value - TRUTH)
        held.append(one.low is not None and one.high is not None and one.low <= TRUTH <= one.high)
        later["a1"] = {id_: (value + CHANGED, author) for id_, (value, author) in later["a1"].items()}
        named.append(link_task("half", "made up", first, later, anchors)[0].changed == ("a1",))
    return {
        "halves_bias": round(float(np.mean(errors)), 5),
        "halves_error": round(float(np.std(errors) / np.sqrt(draws)), 5),
        "halves_coverage": round(float(np.mean(held)), 3),
        "changed_named": round(float(np.mean(named)), 3),
    }


def row(id_: str, author: str, round_: str) -> PromptRow:
    """What a made-up sample asks."""
    return PromptRow(
        id=id_,
        setting="Abs-9K",
        prompt_name="abs_short",
        prompt_version=1,
        first_author=author,
        published="2026-01-01",
        round=round_,
        target="",
    )


def linked_once(seed: int, real: np.ndarray) -> Linked:
    """One draw's linked score of a model whose score in the first round's population is `TRUTH`."""
    chance = np.random.default_rng([seed, 7])
    spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
    rounds: dict[str, dict[str, list[Sample]]] = {}
    for name, easier in (("1", 0.0), ("2", SHIFT)):
        papers = real[chance.integers(0, len(real), 200)].mean(axis=1) - real.mean()
        authors = chance.integers(0, 150, 200)
        rounds[name] = {
            model: [
                Sample(
                    row(f"{name}.{i}", str(authors[i]), name),
                    "",
                    {"rouge_l": float(skill + easier + paper + chance.normal(0, spread))},
                )
                for i, paper in enumerate(papers)
            ]
            for model, skill in SKILLS.items()
        }
    linked, _ = link(rounds, [model for model in SKILLS if model != "new"], "rouge_l")
    return next(one for one in linked if one.model == "new")


def real_scores(data: Path, place: Path) -> np.ndarray:
    """The ROUGE-L of two baselines, shape (papers, 2)."""
    dataset = made("lab", data, place)
    columns = []
    for baseline in ("lead", "random-sentence"):
        metadata = {"dataset": str(dataset), "bertscore_model": "none", "split": "all"}
        evaluate(baseline, "", ["academiceval_abs_9k"], metadata, None, place / baseline)
        columns.append({one.id: one.scores["rouge_l"] for one in read([place / baseline])})
    return np.array([[own[id_] for own in columns] for id_ in sorted(columns[0])])


def simulated(n: int, share: float, seed: int, real: np.ndarray) -> tuple[Effect, float]:
    """One draw's estimate, and the true mean rise."""
    chance = np.random.default_rng([seed, n, round(share * 1000)])
    papers = real[chance.integers(0, len(real), n)]
    months, authors = chance.integers(0, MONTHS, n), chance.integers(0, max(1, int(0.7 * n)), n)
    spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
    rises, given = [], []
    for late in CUTOFFS:
        for i in range(n):
            score = float(papers[i].mean() + chance.normal(0, spread))
            if months[i] <= late:
                known = chance.random() < share
                rises.append(MEMORISED - score if known else 0.0)
                score = MEMORISED if known else score
            given.append(Observation(f"model-{late}", "Abs-9K", str(i), str(authors[i]), int(months[i]) - late, score))
    expected = share * (MEMORISED - float(real.mean()))
    return effect("simulated", given), expected


def is_found(one: Effect) -> bool:
    """Whether scores are higher on papers up to the cut-off."""
    return bool(one.value and one.value > 0 and one.p is not None and one.p < 0.05)


def holds(one: Effect, truth: float) -> bool:
    """Whether the interval contains the truth."""
    return one.low is not None and one.high is not None and one.low <= truth <= one.high


if __name__ == "__main__":
    main()
