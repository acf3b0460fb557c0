"""A results page of eight models over six rounds with planted effects, to look at, and how well the effects are found.

    python benchmarks/months_page.py [--quick] [--keep FOLDER]

Every round is easier or harder than the first by a known amount; five of the models are anchors. One model has seen every fifth paper up
to its cut-off, which lies in the fourth round. The last line is JSON: how far linked scores lie from the truth, how many of their
intervals hold it, and what `contamination` finds of what was planted.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lm_eval_tasks.study import contamination, linking
from lm_eval_tasks.study.models_of_runs import read_rounds
from tests.helpers.runs import write_results

# Round -> how much easier it is than the first, on the scale of ROUGE-L.
EASIER = {"2026.06": 0.0, "2026.07": 0.02, "2026.08": -0.03, "2026.09": 0.03, "2026.10": 0.01, "2026.11": -0.02}
# Model -> its mean score in the first round, and its cut-off.
MODELS = {
    "anchor-a": (0.20, "2025-01"),
    "anchor-b": (0.23, "2025-02"),
    "anchor-c": (0.26, "2025-01"),
    "anchor-d": (0.29, "2025-03"),
    "anchor-e": (0.32, "2025-02"),
    "plain": (0.28, "2025-12"),
    "strong": (0.35, "2026-01"),
    "has-seen": (0.27, "2026-08"),
}
ANCHORS = tuple(name for name in MODELS if name.startswith("anchor"))
SEEN, GAIN = 0.2, 0.3


def main() -> None:
    """Make the runs, their page, and the estimates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="60 papers a round")
    parser.add_argument("--keep", type=Path, help="leave results and site in this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as fresh:
        place = arguments.keep or Path(fresh)
        make_runs(place / "results", 60 if arguments.quick else 300)
        site = ["report", str(place / "results"), "-o", str(place / "site"), "--anchors", ",".join(ANCHORS)]
        subprocess.run([sys.executable, "-m", "builder.cli", *site], check=True)
        print(json.dumps(estimates(place / "results")))


def make_runs(place: Path, papers: int) -> None:
    """Write what `academiceval eval` would have written for every model and round."""
    rng = random.Random(11)
    for round_, easier in EASIER.items():
        month = f"{round_[:4]}-{round_[5:]}"
        difficulty = [rng.gauss(0.0, 0.05) for _ in range(papers)]
        # Papers of the months before each round, so that some lie before the last cut-off.
        days = [f"2026-{max(1, int(month[5:]) - 1 - i % 2):02d}-{1 + i % 28:02d}" for i in range(papers)]
        for model, (level, cutoff) in MODELS.items():
            folder = place / round_ / model
            folder.mkdir(parents=True)
            rows = []
            for i in range(papers):
                seen = model == "has-seen" and days[i][:7] <= cutoff and rng.random() < SEEN
                score = min(1.0, max(0.0, level + easier + difficulty[i] + rng.gauss(0, 0.04) + GAIN * seen))
                rows.append(row(round_, i, days[i], score))
            (folder / f"samples_abs_9k_{model}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
            write_results(folder, model, cutoff)


def row(round_: str, i: int, day: str, score: float) -> dict[str, object]:
    """One logged sample."""
    doc = {
        "id": f"{round_[2:4]}{round_[5:]}.{i:05d}v1",
        "title": f"Paper {i} of {round_}",
        "published": day,
        "license": "unknown",
        "licenses": ["unknown"],
        "target": f"abstract {i}",
        "round": round_,
        "first_author": f"Author {round_} {i // 2}",
        "setting": "Abs-9K",
        "prompt_name": "abs_short",
        "prompt_version": 1,
        "retriever": "",
        "tokens_before": 9000,
        "tokens_after": 9000,
        "slots": [],
    }
    scores = {"rouge_l": score, "rouge_l_wrong_paper": 0.12, "empty": 0.0, "truncated": 0.0}
    scored = json.dumps({"answer": f"answer {i}", "scores": scores})
    return {"doc_id": i, "doc": doc, "target": doc["target"], "resps": [["answer"]], "filtered_resps": [scored]}


def estimates(place: Path) -> dict[str, float]:
    """What linking and `contamination` say, against what was planted."""
    rounds = read_rounds([place / name for name in EASIER])
    linked, _ = linking.link(rounds, ANCHORS, "rouge_l")
    errors, held = [], []
    for one in linked:
        if one.model in ("plain", "strong") and one.round != min(EASIER):
            truth = MODELS[one.model][0]
            errors.append(one.value - truth)
            held.append(one.low is not None and one.high is not None and one.low <= truth <= one.high)
    runs = {model: [one for own in rounds.values() for one in own[model]] for model in MODELS}
    given = contamination.observations(runs, {name: cutoff for name, (_, cutoff) in MODELS.items()}, "rouge_l")
    found = contamination.effect("papers up to the cut-off", given)
    return {
        "linked_error": round(fmean(map(abs, errors)), 4),
        "unlinked_error": round(fmean(map(abs, list(EASIER.values())[1:])), 4),
        "linked_held": round(fmean(held), 3),
        "planted": SEEN * GAIN,
        "found": round(found.value or 0.0, 4),
    }


if __name__ == "__main__":
    main()
