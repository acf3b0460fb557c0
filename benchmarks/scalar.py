"""Build SCALAR's three levels from made-up papers, and measure how well citations are classified.

200 question papers of 6,000 words that cite 30 earlier ones each; the build is done twice. The agreement of the classifier with real
labels is that on papers left out of the training, in ten folds (two with `--quick`).
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.shared.data import DATA
from benchmarks.shared.made_up import build_workspace, fill_workspace, hashes
from benchmarks.shared.running import Figures, call, run
from builder.dataset.manifest import read_manifest
from builder.families.scalar import train

LABELS = DATA / "scalar" / "citation_labels.jsonl.xz"
# Four times as many as question papers: a quarter is asked about.
PAPERS = 800
_LEVELS = """
[scalar]
levels = ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"]
"""


def measure(folder: Path, quick: bool) -> Figures:
    """Seconds and memory of the slower and larger build, whether both gave the same bytes, and the agreement."""
    place = folder / "made"
    papers = 80 if quick else PAPERS
    fill_workspace(place, papers, words=6000, cited=30, settings='["Title-10K"]', tables=_LEVELS)
    builds = [call(build_workspace, place, output) for output in ("once", "twice")]
    levels = [one for one in read_manifest(place / "once").configurations if one.task == "cloze"]
    agreement = train.measure(train.read_labels(LABELS), 2 if quick else 10)
    return {
        "seconds": round(max(build.seconds for build in builds), 1),
        "peak_mb": round(max(build.peak_mb for build in builds), 1),
        "identical": hashes(place / "once") == hashes(place / "twice"),
        "questions": sum(level.statistics("test").samples for level in levels),
        "type_agreement": agreement["type_agreement"],
    }


if __name__ == "__main__":
    run(measure, LABELS)
