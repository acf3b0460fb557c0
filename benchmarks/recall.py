"""Recall over real papers: what small models recall of numbers and names, and the share of it that they keep in longer contexts.

The runs are those in docs/results. Where ACADEMICEVAL_WEIGHTS names a folder with the models' folders, `rounds/new-pdf` is completed from
its papers and they are asked again; these runs go on in the folder that ACADEMICEVAL_RUNS names. With `--quick`, a compressor is asked.
Besides, shares are drawn of 33 authors who differ in the bits that they recall, as the round's do, 15 % of whom lose all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.shared.data import PDF
from benchmarks.shared.running import ACADEMICEVAL, ROOT, Figures, bounded, command, run
from lm_eval_tasks.families.compressors import PPMD
from lm_eval_tasks.families.recall.recall_row import PLACES
from lm_eval_tasks.stats.kept import HELD, kept_of
from lm_eval_tasks.stats.opened import read_runs
from lm_eval_tasks.stats.ratios import ratio, sums
from standins.places import DATA
from standins.real_model import UNPACKED

PUBLISHED = ROOT / "docs" / "results" / "new-pdf"

# How figures call each model -> its folder, and the configurations that it is asked besides the evidence alone and without it.
MODELS = {
    "small": (UNPACKED, ["4k"]),
    "large": ("Qwen2.5-Coder-0.5B-Instruct", ["4k", "8k", "16k", "without_16k"]),
}


def measure(folder: Path, quick: bool) -> Figures:
    """Return what each model recalls and keeps, and how often the intervals of drawn shares hold."""
    return {**recalled(folder, quick), **drawn_shares(draws=100 if quick else 2_000)}


def recalled(folder: Path, quick: bool) -> Figures:
    """Return what each model recalls and keeps."""
    weights = os.environ.get("ACADEMICEVAL_WEIGHTS")
    if not (quick or weights):
        return said_by_all(PUBLISHED)
    dataset = round_in(folder)
    if quick:
        ask(("--model", PPMD), ["4k"], dataset, folder / PPMD)
        return said_by("small", folder / PPMD)
    runs = Path(os.environ.get("ACADEMICEVAL_RUNS") or folder)
    for model, sizes in MODELS.values():
        lm = ("--model", "hf", "--model_args", f"pretrained={weights}/{model},dtype=bfloat16")
        ask(lm, sizes, dataset, runs / model)
    return said_by_all(runs)


def drawn_shares(draws: int) -> Figures:
    """Return how often the interval of a share holds the true one, which is the least that counts as held, and how often it is held."""
    rng = np.random.default_rng(33)
    names = [str(author) for author in range(33)]
    bounds: list[tuple[float, float]] = []
    for _ in range(draws):
        alone = rng.lognormal(2.5, 0.4, len(names))
        recalled = np.where(rng.random(len(names)) < 1 - HELD, 0.0, alone)
        share = ratio(sums(recalled.tolist(), alone.tolist(), names))
        bounds += [share.bounds] if share.bounds else []
    held = fmean(low >= HELD for low, _ in bounds)
    return {
        "drawn_coverage": round(fmean(low <= HELD <= high for low, high in bounds), 3),
        "drawn_held": round(held, 3),
    }


def said_by_all(runs: Path) -> Figures:
    """Return the figures of all models from the folder of their runs."""
    figures: Figures = {}
    for name, (model, _) in MODELS.items():
        figures |= said_by(name, runs / model)
    return figures


def round_in(folder: Path) -> Path:
    """Complete the round from the files of its papers."""
    papers = folder / "papers"
    papers.mkdir()
    for file in (*PDF.glob("*.pdf"), *(DATA / "new" / "pdf").glob("*.pdf")):
        (papers / file.name).symlink_to(file)
    source = ("--source", "pdfs", "--path", papers, "-o", folder / "round", "--work", folder / "work")
    command(*ACADEMICEVAL, "fill", ROOT / "rounds" / "new-pdf", *source)
    return folder / "round"


def ask(model: tuple[str, ...], sizes: list[str], dataset: Path, output: Path) -> None:
    """Ask a model for the likelihood of the texts with their evidence alone, without it, and in some sizes."""
    tasks = ",".join(f"academiceval_recall_{name}" for name in ("alone", "without", *sizes))
    how = ("--dataset", dataset, "--bertscore", "none", "--output", output)
    command(*ACADEMICEVAL, "eval", *model, "--tasks", tasks, *how)


def said_by(name: str, output: Path) -> Figures:
    """Return rows, bits recalled alone, and of each size the share kept, with its bounds, and by the place of the evidence."""
    alone, *sized = kept_of(read_runs([output]))
    figures: Figures = {f"{name}_rows": alone.recalled.samples, **bounded(f"{name}_recalled", alone.recalled)}
    for each in sized:
        key = f"{name}_kept_{each.configuration.removeprefix('Recall-').lower()}"
        figures |= bounded(key, each.share) if each.share else {}
        figures |= bounded(f"{key}_by_length", each.by_length) if each.by_length else {}
        figures |= {f"{key}_{place}": round(each.parts[place], 4) for place in PLACES if place in each.parts}
    return figures


if __name__ == "__main__":
    run(measure, PDF, DATA / "new")
