"""What metrics notice, on two rounds over real papers: the report card of `academiceval study metrics`, and the speed of grounding.

  python benchmarks/report_card.py [DATA] [--quick]

DATA: default ../shared/data. The conclusions of the papers of `lab` and `pdf` (docs/arxiv.md) serve as answers, their abstracts as
the references. `lab` was consulted while the rules were written; of `pdf`, only the wrong verdicts were read afterwards. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["HF_HUB_OFFLINE"] = "1"

from builder.pipeline import run  # noqa: E402
from builder.round.model import Round  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.metrics.grounding import Shown, support_of_names, support_of_numbers  # noqa: E402
from lm_eval_tasks.metrics.registry import of_texts  # noqa: E402
from lm_eval_tasks.study.originals import human_texts  # noqa: E402
from lm_eval_tasks.study.report_card import Original, measure  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"
METRICS = ("rouge_l_content", "rouge_l", "bertscore", "numbers_supported", "names_supported")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="one round, without BERTScore")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.exit(1, f"error: no folder {arguments.data}\n")
    figures: dict[str, float] = {}
    for name in ("lab",) if arguments.quick else ("lab", "pdf"):
        with tempfile.TemporaryDirectory() as place:
            figures |= of_round(name, arguments.data, Path(place), "none" if arguments.quick else "minilm")
    print(json.dumps(figures))


def of_round(name: str, data: Path, place: Path, bertscore_model: str) -> dict[str, float]:
    """The figures of one round."""
    dataset = made(name, data, place)
    texts = human_texts(str(dataset), "abs", bertscore_model, {})
    card = measure(texts, [one for one in of_texts() if one.name in METRICS])
    figures = {
        f"{name}_{metric}_{damage}": round(seen.accuracy, 2)
        for metric, own in card.damages.items()
        for damage, seen in own.items()
    }
    figures |= {f"{name}_{metric}_alarms": round(card.alarm(metric) or 0.0, 2) for metric in card.damages}
    figures |= {f"{name}_{damage}_n": seen.n for damage, seen in card.damages["rouge_l"].items()}
    figures[f"{name}_alarms_n"] = card.alarm_pairs("rouge_l")
    return figures | {f"{name}_{key}": value for key, value in grounding(texts).items()}


def grounding(texts: list[Original]) -> dict[str, float]:
    """How much of the authors' own abstracts is supported, and milliseconds for an answer."""
    started = time.process_time()
    both = [
        (support_of_numbers(text.row.target, shown).share, support_of_names(text.row.target, shown).share)
        for text in texts
        for shown in (Shown(text.row.own_part),)
    ]
    spent = time.process_time() - started
    numbers, names = ([share for share in own if share is not None] for own in zip(*both, strict=True))
    return {
        "human_numbers": round(fmean(numbers), 3),
        "human_names": round(fmean(names), 3),
        "milliseconds": round(1000 * spent / len(texts), 2),
    }


def made(name: str, data: Path, place: Path, settings: Sequence[str] = ("Title-10K", "Abs-9K")) -> Path:
    """A round over real papers."""
    source: dict[str, object] = {"kind": "mirror", "path": str(data / "lab" if name == "lab" else data)}
    more: dict[str, object] = {}
    if name == "pdf":
        source["metadata"] = "pdf_meta.jsonl"
        more["graph"] = {"component": "all"}
    round_ = Round.model_validate(
        {
            "round": "2026.11",
            "seed": 2026,
            "workspace": place / "work",
            "output": place / name,
            "source": source,
            "settings": list(settings),
            "split": {"validation": 0.2, "test": 0.2},
            "samples": {"min_citations": 1},
            **more,
        }
    )
    return run(round_, LocalEngine()).output


if __name__ == "__main__":
    main()
