"""Which metric of texts tells better from worse best: graded texts of real papers, and texts that say nothing of the paper.

  python benchmarks/headline.py [DATA] [--quick]

DATA: default ../shared/data, whose gold sections are read. The abstracts are the references. Five kinds of text stand for answers: the
authors' conclusion; half of it followed by half of another paper's; the first words of the introduction, as many as the abstract has; a
wrong paper's abstract; and function words alone. Each paper is paired with four others. An effect is the mean of the paired differences
over their standard deviation. BERTScore is that of a small model (minilm). The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["HF_HUB_OFFLINE"] = "1"

from lm_eval_tasks.metrics import registry  # noqa: E402
from lm_eval_tasks.metrics.function_words import text_of  # noqa: E402
from lm_eval_tasks.samples.answers import Answer, Answers  # noqa: E402
from lm_eval_tasks.samples.row import PromptRow  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"
SECTIONS = "gold_sections.jsonl.xz"
STEPS = (1, 5, 11, 17)
# What should score higher, and what lower.
PAIRS = (
    ("conclusion", "half and half"),
    ("introduction", "wrong abstract"),
    ("conclusion", "function words"),
)
KEYS = ("graded", "wrong", "function_words")


@dataclass(frozen=True)
class Paper:
    """A paper's gold sections."""

    id: str
    abstract: str
    introduction: str
    conclusion: str
    body: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="without BERTScore")
    arguments = parser.parse_args()
    if not (arguments.data / SECTIONS).is_file():
        parser.exit(1, f"error: no file {arguments.data / SECTIONS}\n")
    papers = papers_of(arguments.data / SECTIONS)
    scorer = "none" if arguments.quick else "minilm"
    scores = mean_scores(papers, scorer)
    higher = (metric.name for metric in registry.of_texts() if metric.best == "higher")
    # What says nothing of texts without numbers, names or citations ranks nobody who writes none.
    names = [name for name in higher if all(any(v is not None for v in of[name]) for of in scores.values())]
    print(
        f"{len(papers)} papers; mean scores of {', '.join(scores)}; effects of {', '.join(map(' over '.join, PAIRS))}"
    )
    figures: dict[str, object] = {"papers": len(papers)}
    mean_effects: dict[str, float] = {}
    for name in names:
        means = [mean_of(scores[kind][name]) for kind in scores]
        effects = [effect(scores[better][name], scores[worse][name]) for better, worse in PAIRS]
        print(
            f"{name:28}",
            *("       -" if value is None else f"{value:8.3f}" for value in means),
            "  ",
            *(f"{value:+6.2f}" for value in effects),
        )
        mean_effects[name] = fmean(effects)
        figures |= {f"{name}_{pair}": round(value, 2) for pair, value in zip(KEYS, effects, strict=True)}
        figures |= {
            f"{name}_of_{kind.replace(' ', '_')}": value and round(value, 3)
            for kind, value in zip(scores, means, strict=True)
        }
    figures["best"] = max(mean_effects, key=lambda name: mean_effects[name])
    figures["best_without_model"] = max(mean_effects.keys() - {"bertscore"}, key=lambda name: mean_effects[name])
    print(json.dumps(figures))


def papers_of(path: Path) -> list[Paper]:
    """The papers that have all of the sections."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    fields = ("id", "abstract", "introduction", "conclusion", "body")
    return [Paper(*(record[name] for name in fields)) for record in records if all(record.get(name) for name in fields)]


def mean_scores(papers: Sequence[Paper], scorer: str) -> dict[str, dict[str, list[float | None]]]:
    """Kind of text -> metric -> a score for each paper: the mean over the papers that it is paired with."""
    runs = [
        {kind: scores_of(papers, answers, scorer) for kind, answers in texts_of(papers, step).items()} for step in STEPS
    ]
    return {
        kind: {
            name: [mean_of(values) for values in zip(*(run[kind][name] for run in runs), strict=True)] for name in of
        }
        for kind, of in runs[0].items()
    }


def texts_of(papers: Sequence[Paper], step: int) -> dict[str, list[str]]:
    """Kind -> a text for each paper.

    Args:
        step: how far on in the list the other paper is.
    """
    others = [papers[(i + step) % len(papers)] for i in range(len(papers))]
    words = round(median(len(paper.abstract.split()) for paper in papers))
    return {
        "conclusion": [paper.conclusion for paper in papers],
        "half and half": [
            f"{half(paper.conclusion)} {half(other.conclusion)}" for paper, other in zip(papers, others, strict=True)
        ],
        "introduction": [" ".join(paper.introduction.split()[: len(paper.abstract.split())]) for paper in papers],
        "wrong abstract": [other.abstract for other in others],
        "function words": [text_of(words)] * len(papers),
    }


def half(text: str) -> str:
    """The first half of a text's words."""
    words = text.split()
    return " ".join(words[: len(words) // 2])


def scores_of(papers: Sequence[Paper], texts: Sequence[str], scorer: str) -> dict[str, list[float | None]]:
    """Metric -> score of each text."""
    answers = Answers(
        Answer(row_of(paper, scorer), text, text, text) for paper, text in zip(papers, texts, strict=True)
    )
    return {metric.name: list(metric.compute(answers)) for metric in registry.of_texts()}


def row_of(paper: Paper, scorer: str) -> PromptRow:
    """What would be asked: the abstract of a paper whose body is shown."""
    return PromptRow(
        id=paper.id,
        setting="Abs-9K",
        prompt_name="abs_short",
        prompt_version=1,
        first_author=paper.id,
        published="2026-01-01",
        round="gold",
        target=paper.abstract,
        prompt=paper.body,
        bertscore_model=scorer,
    )


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of those that there are; None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def effect(better: Sequence[float | None], worse: Sequence[float | None]) -> float:
    """The mean of the paired differences over their standard deviation; 0 if there are none, or all are equal."""
    gains = [a - b for a, b in zip(better, worse, strict=True) if a is not None and b is not None]
    spread = stdev(gains) if len(gains) > 1 else 0.0
    return fmean(gains) / spread if spread else 0.0


if __name__ == "__main__":
    main()
