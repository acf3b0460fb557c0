"""What only the weights of models tell of scoring by likelihood, over 36 real papers: the memory of a long prompt, texts that say something
else in as many words, a model whose weights are rounded more and more, and the time in which bits and ROUGE tell two models apart.

Weights are folders in the one that ACADEMICEVAL_WEIGHTS names. Each part needs only its own models, and is kept for this commit in the
folder that ACADEMICEVAL_RUNS names. `--quick` rounds the small model and scores one made-up text.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM

from benchmarks.likelihood import CHATTING, DTYPE, MODELS, text_of
from benchmarks.shared.running import ACADEMICEVAL, Figures, bounded, call, command, commit, run
from lm_eval_tasks.base.contract import LIKELIHOOD, OTHER, START
from lm_eval_tasks.base.files import write_whole
from lm_eval_tasks.base.intervals import LEVEL, POWER, difference
from lm_eval_tasks.compat.likelihoods import score
from lm_eval_tasks.compat.scored_texts import Question
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.likelihood import doc_to_target
from lm_eval_tasks.stats.opened import read_runs
from standins.places import DATA
from standins.real_model import FOLDER, UNPACKED

ROUND = f"""
round = "2026.11"
seed = 2026
settings = ["Abs-9K"]
[source]
kind = "mirror"
path = "{DATA}"
metadata = "pdf_meta.jsonl"
[graph]
component = "all"
[split]
validation = 0.1
test = 0.45
"""
BYTES = 4
# Of these, edited texts are asked too.
EDITED, LARGER = (MODELS[0], CHATTING), MODELS[3]
ROWS = 36
# Rows by which two models are told apart; and fewer: what these take less is the time of the others, without that of loading a model.
DECIDING, FEW = 12, 2
# Bits to which weights are rounded, each matrix with one scale a row.
LADDER = (8, 4, 3)
LONG, TARGET = 16_000, 1_500
_SYNONYMS = {
    "show": "demonstrate",
    "shows": "demonstrates",
    "use": "employ",
    "using": "employing",
    "propose": "suggest",
    "novel": "new",
    "new": "novel",
    "improve": "enhance",
    "improves": "enhances",
    "approach": "method",
    "method": "approach",
    "results": "findings",
    "large": "big",
    "several": "various",
    "achieve": "reach",
    "achieves": "reaches",
    "however": "nevertheless",
    "important": "crucial",
}
_NEGATED = {"not": "indeed", "no": "some", "can": "cannot", "cannot": "can", "with": "without", "without": "with"}


def measure(folder: Path, quick: bool) -> Figures:
    """Return the figures of each part whose models are there."""
    if quick:
        lm = rounded(FOLDER / UNPACKED, 16)
        return level(FOLDER / UNPACKED, LADDER[0], [(text_of(lm, 64), text_of(lm, 32, skip=64), "")])
    return with_weights(
        Path(os.environ["ACADEMICEVAL_WEIGHTS"]), Path(os.environ.get("ACADEMICEVAL_RUNS") or folder) / commit()
    )


def with_weights(weights: Path, runs: Path) -> Figures:
    """Return what only the models themselves can tell; what a run that was ended has kept is not measured again."""
    dataset = runs / "academiceval"
    middle, larger = weights / CHATTING, weights / LARGER
    # Name -> the models that it needs, and what measures it.
    parts: dict[str, tuple[list[Path], Callable[[], Figures]]] = {
        "peak": ([middle], lambda: {"peak_mb_16k": round(call(peak_mb, middle).result)}),
        **{f"edits-{name}": ([weights / name], partial(edits, weights / name, dataset)) for name in EDITED},
        "ladder": ([middle], partial(ladder, middle, dataset, runs)),
        "decision": ([middle, larger], partial(decision, middle, larger, dataset, runs / "decision")),
    }
    build_round(runs)
    figures: Figures = {}
    for name, (models, part) in parts.items():
        if all(model.is_dir() for model in models):
            figures |= kept(runs / f"{name}.json", part)
    return figures


def kept(file: Path, part: Callable[[], Figures]) -> Figures:
    """Return a part's figures, which are measured if no file has them."""
    if not file.is_file():
        write_whole(file, json.dumps(part()))
    figures: Figures = json.loads(file.read_text(encoding="utf-8"))
    return figures


def build_round(place: Path) -> None:
    """Build the round of the papers in `place`/academiceval if it is not there."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "round.toml").write_text(ROUND)
    command(*ACADEMICEVAL, "run", place / "round.toml", "-q")


# --- the memory of a long prompt


def peak_mb(model: Path) -> float:
    """Return the memory that a long prompt and text take above the model and its cache of keys and values, in a process of its own."""
    lm = HFLM(str(model), dtype=DTYPE, device="cpu")
    config = lm.model.config
    heads, size = config.num_key_value_heads, config.hidden_size // config.num_attention_heads
    cache = 2 * BYTES * config.num_hidden_layers * heads * size * (LONG + TARGET) / 2**20
    score(lm, [Question("A word.", ("Another word.",))])
    # To load a model takes more than to keep it: from here on, the highest is counted anew (proc(5), clear_refs).
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_mb("VmRSS")
    score(lm, [Question(text_of(lm, LONG), (text_of(lm, TARGET, skip=LONG),))])
    return float(resident_mb("VmHWM") - before - cache)


def resident_mb(name: str) -> float:
    """Return a line of /proc/self/status that is in kB, such as the memory that this process has, or had at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


# --- texts that say something else in as many words


def edits(model: Path, dataset: Path) -> Figures:
    """Return by how many bits per byte more an edited text costs than the authors' under the paper than under another one, of the texts
    that have a place for the edit.
    """
    lm = HFLM(str(model), dtype=DTYPE, device="cpu")
    own, other = (asked(dataset, context) for context in (START, OTHER))
    extra: dict[str, list[tuple[float, str]]] = {name: [] for name in EDITS}
    for id_, (prompt, text, author) in own.items():
        edited = {name: edit(text) for name, edit in EDITS.items() if edit(text) != text}
        if edited and id_ in other:
            under = [more_bits(lm, shown, text, list(edited.values())) for shown in (prompt, other[id_][0])]
            for name, mine, others in zip(edited, *under, strict=True):
                extra[name].append((mine - others, author))
    figures: Figures = {}
    for name, found in extra.items():
        key = f"edited_{name}_{model.name}"
        values, authors = [bits for bits, _ in found], [author for _, author in found]
        figures |= bounded(key, difference(values, authors)) if found else {}
        figures[f"{key}_n"] = len(found)
    return figures


def asked(dataset: Path, context: str) -> dict[str, tuple[str, str, str]]:
    """Id -> prompt, text and first author of the first rows."""
    options: Any = {"dataset": str(dataset), "bertscore_model": "none", "context": context, "way": LIKELIHOOD}
    docs = hook.load("Abs-9K", 512, **options)["test"]
    first = docs.select(range(min(ROWS, len(docs))))
    return {doc["id"]: (doc["prompt"], doc_to_target(doc), doc["first_author"]) for doc in first}


def more_bits(lm: Any, prompt: str, text: str, edited: list[str]) -> list[float]:
    """Return how many bits per byte more edited texts cost behind a prompt."""
    [scored] = score(lm, [Question(prompt, (text, *edited))])
    before, *after = (likelihood.bits_per_byte or 0.0 for likelihood in scored.likelihoods)
    return [bits - before for bits in after]


def changed_numbers(text: str) -> str:
    """Raise the first digit of each number, 9 to 1."""
    return re.sub(r"(?<![\w.])[1-9](?=[\d.,]*)", lambda digit: str(int(digit[0]) % 9 + 1), text)


def replaced(words: dict[str, str], text: str) -> str:
    """Say some words by others."""
    return re.sub(r"\b[a-z]+\b", lambda word: words.get(word[0], word[0]), text)


EDITS: dict[str, Callable[[str], str]] = {
    "numbers": changed_numbers,
    "negations": partial(replaced, _NEGATED),
    "synonyms": partial(replaced, _SYNONYMS),
}


# --- a ladder of models whose order is known


def ladder(model: Path, dataset: Path, runs: Path) -> Figures:
    """Return the bits per byte of a model whose weights are rounded to fewer and fewer bits, and whether they grow at each step."""
    rows = list(asked(dataset, START).values())
    figures: Figures = {}
    for width in (16, *LADDER):
        figures |= kept(runs / f"rounded-{width}.json", partial(level, model, width, rows))
    figures["ladder_in_order"] = all(fewer < more for fewer, more in pairwise(figures.values()))
    return figures


def level(model: Path, width: int, rows: list[tuple[str, str, str]]) -> Figures:
    """Return the bits per byte of a model with its weights rounded to so many bits."""
    answers = score(rounded(model, width), [Question(prompt, (text,)) for prompt, text, _ in rows])
    bits = fmean(answer.likelihoods[0].bits_per_byte or 0.0 for answer in answers)
    return {f"rounded_to_{width}": round(bits, 4)}


def rounded(model: Path, width: int) -> Any:
    """Open a model whose matrices are rounded to so many bits, to nearest; 16 changes nothing."""
    lm = HFLM(str(model), dtype=DTYPE, device="cpu")
    most = 2 ** (width - 1) - 1
    with torch.no_grad():
        for name, weights in lm.model.named_parameters():
            if width < 16 and weights.ndim == 2 and "embed" not in name:
                scale = weights.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / most
                weights.copy_((weights / scale).round().clamp(-most, most) * scale)
    return lm


# --- the time in which two models are told apart


def decision(first: Path, second: Path, dataset: Path, output: Path) -> Figures:
    """Return the processor seconds in which two models are told apart, by bits and by answers, if their difference and its spread are those
    of a few rows.
    """
    ways = {
        "bits": ("academiceval_abs_9k_bpb", "bits_per_byte", ()),
        "rouge": ("academiceval_abs_9k", "rouge_l_content", ("--apply_chat_template", "--batch_size", DECIDING)),
    }
    figures: Figures = {}
    for name, (task, metric, options) in ways.items():
        scores, seconds = [], 0.0
        for model in (first, second):
            place = output / name / model.name
            line = ("--model_args", f"pretrained={model},dtype={DTYPE},max_length=4096", "--tasks", task, *options)
            few, all_ = (ask(place / str(rows), dataset, rows, *line) for rows in (FEW, DECIDING))
            seconds += (all_ - few) / (DECIDING - FEW)
            samples = read_runs([place / str(DECIDING)])
            scores.append({sample.id: sample.scores[metric] for sample in samples if metric in sample.scores})
        apart = [scores[1][id_] - scores[0][id_] for id_ in scores[0] if id_ in scores[1]]
        rows = rows_needed(fmean(apart), stdev(apart))
        figures |= {f"decision_rows_{name}": rows, f"decision_seconds_{name}": rows and round(rows * seconds)}
        figures[f"decision_difference_{name}"] = round(fmean(apart), 4)
    return figures


def ask(output: Path, dataset: Path, rows: int, *options: object) -> float:
    """Ask a model for a few abstracts with 1,500 words of the paper; return the processor seconds."""
    shutil.rmtree(output, ignore_errors=True)
    how = ("--contexts", "1500w", "--limit", rows, "--bertscore", "none", "--dataset", dataset, "--output", output)
    return command(*ACADEMICEVAL, "eval", "--model", "hf", *how, *options).processor_seconds


def rows_needed(difference: float, spread: float) -> int | None:
    """Return the rows that show a mean difference at the level and with the power of `detectable`; None for no difference."""
    normal = NormalDist()
    factor = normal.inv_cdf(1 - (1 - LEVEL) / 2) + normal.inv_cdf(POWER)
    return math.ceil((factor * spread / difference) ** 2) if difference else None


if __name__ == "__main__":
    run(measure, FOLDER)
