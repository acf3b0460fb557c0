"""Does a measured gain say what it should? Made-up readers with planted gains, and what the core can detect and costs.

  python benchmarks/gain.py [--quick]

First, readers behind a made-up server answer SCALAR's questions of a made-up round through `academiceval eval --contexts`: four with
planted gains of 0, 2, 5 and 20 points, one that sees the beginning of the paper, and one that only matches words. What the command
states must be what they answered. Then, by simulation over questions that come in clusters: the bias of a gain, how often its 95 %
interval holds the truth, and how often a reader that gains nothing over one shortcut is said to read. Last, the smallest difference
between two models that the core's reading board detects, and the tokens that it takes. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.pipeline import run  # noqa: E402
from builder.round.configurations import thousands_in  # noqa: E402
from builder.round.model import Round  # noqa: E402
from lm_eval_tasks.core.files import sha256_of_bytes  # noqa: E402
from lm_eval_tasks.core.metadata import Context  # noqa: E402
from lm_eval_tasks.core.row_format import MASK  # noqa: E402
from lm_eval_tasks.data import scalar_hook  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.stats.gains import Gain, gain_over, verdict_of  # noqa: E402
from lm_eval_tasks.stats.placed import Part, by_task, difference_over, part_of  # noqa: E402
from lm_eval_tasks.tasks.records import CORE, FULL, READINGS, SHORTER, what_of  # noqa: E402
from tests.helpers.openai_server import serve  # noqa: E402

LEVEL = "SCALAR-Easy"
CONTEXTS: tuple[Context, ...] = (*SHORTER["cloze"], FULL)
# Rows that begin with the same text: those of a context, a tenth of which is asked again in another order.
PROMPTS_OF_PREFIX = {"walk": 400 / 115, "next": 100 / 80}
# First authors of a SCALAR level's questions; contexts of a reading configuration, which share no papers; questions of Walk over them.
AUTHORS, CLUSTERS, WALK = 180, 80, 400
# Share of right answers in a shorter context. Of the variance of how likely an answer is right: what two answers to one question have in
# common, the part of that which is its cluster's, and what one reader, or one context, has in a cluster alone.
SHORT, ALIKE, WITHIN, PRIVATE = 0.5, 0.5, 0.1, 0.1
FLOORS = {"cloze": 0.25, "walk": 0.1, "next": 0.003}
PAIRS = 20
# Mean tokens of SCALAR's own questions; of a reading context, the share of its size.
SCALAR_TOKENS = {"SCALAR-Easy": 71_800, "SCALAR-Medium": 70_200, "SCALAR-Hard": 60_600}
FILLED = 0.89
# Characters that a reader of beginnings sees.
SEEN = 10_000
Row = Mapping[str, Any]
# (row of the dataset as lm-eval has it, context) -> the candidate that is named.
Reader = Callable[[Row, Context], int]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="300 draws, a smaller round")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as place:
        stated = through_the_command_line(Path(place), 20 if quick else 60)
    print(json.dumps({**stated, **simulated(300 if quick else 3000), **cost()}))


# --- through the command line


def planted(points: int) -> Reader:
    """Right in half of the questions, whatever it is shown, and in the full context in so many points more."""

    def answer(row: Row, context: Context) -> int:
        drawn = int(sha256_of_bytes(f"{points} {row['id']}")[:8], 16) / 16**8
        is_right = drawn < SHORT + (points / 100 if context == "full" else 0)
        return int(row["label"]) if is_right else (int(row["label"]) + 1) % 4

    return answer


def first_characters(row: Row, context: Context) -> int:
    """Right if the mask is among the first characters that are shown of the paper."""
    before = row["prompt"].partition("<Paper>\n\n")[2].partition(MASK)[0]
    return int(row["label"]) if len(before) < SEEN else (int(row["label"]) + 1) % 4


def matching_words(row: Row, context: Context) -> int:
    """What BM25 names for the sentence with the mask."""
    return int(row["bm25_local"])


READERS: dict[str, Reader] = {
    **{f"gains {points}": planted(points) for points in (0, 2, 5, 20)},
    "sees the beginning": first_characters,
    "matches words": matching_words,
}


def through_the_command_line(place: Path, papers: int) -> dict[str, float]:
    """The largest difference between a gain as the command states it and as it was planted."""
    source = {"kind": "sample", "authors": papers, "papers": 3 * papers}
    fields = {"round": "2026.11", "seed": 7, "settings": ["Title-10K"], "source": source, "split": {"test": 0.3}}
    scalar = {"levels": [LEVEL], "questions": 3 * papers}
    paths = {"workspace": place / "work", "output": place / "academiceval"}
    round_ = Round.model_validate({**fields, **paths, "scalar": scalar})
    run(round_, LocalEngine())
    options = {"dataset": str(round_.output)}
    rows = {context: list(scalar_hook.load(LEVEL, 2000, shown=context, **options)["test"]) for context in CONTEXTS}
    errors = [_error(name, reader, rows, options, place / name) for name, reader in READERS.items()]
    return {"command_line_error": max(errors), "command_line_questions": len(rows["full"])}


def _error(name: str, reader: Reader, rows: Mapping[Context, list[Row]], options: Row, output: Path) -> float:
    """Runs a reader; the largest error of its stated gains."""
    named = {row["prompt"]: reader(row, context) for context, of_context in rows.items() for row in of_context}
    right = {
        context: fmean(named[row["prompt"]] == row["label"] for row in of_context)
        for context, of_context in rows.items()
    }
    with serve(lambda body: f"<answer>{named[body['messages'][-1]['content']]}</answer>") as server:
        given = {
            "model": "local-chat-completions",
            "model_args": f"model=made-up,base_url={server.url}/chat/completions,num_concurrent=8",
            "tasks": "scalar_easy",
            "contexts": ",".join(CONTEXTS),
            "metadata": json.dumps(options),
            "output": str(output),
        }
        command = [sys.executable, "-m", "builder.cli", "eval", "--apply_chat_template"]
        command += [text for option, value in given.items() for text in (f"--{option}", value)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    [results] = output.glob("results_*.json")
    gains = json.loads(results.read_text())["academiceval"]["gains"]
    stated = {gain["shortcut"]: gain["gain"]["mean"] for gain in gains if gain["by"] == "model"}
    print(f"{name}: right {right['full']:.3f}, gains {stated}")
    print("  " + next(line for line in done.stdout.splitlines() if line.startswith(f"{LEVEL}: ")))
    return max(abs(stated[context] - (right["full"] - right[context])) for context in CONTEXTS if context != FULL)


# --- by simulation


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions in clusters, by first authors or by contexts that share papers; some clusters are five times as large as others.

    Attributes:
        common: how hard each is for all readers, from its cluster and by itself.
    """

    clusters: tuple[str, ...]
    common: NDArray[np.float64]

    @property
    def by_id(self) -> dict[str, str]:
        return {str(i): name for i, name in enumerate(self.clusters)}

    def answers(self, chance: np.random.Generator, share: float, parts: int = 1) -> dict[str, float]:
        """The share of right answers of one reader to each question, which has so many parts."""
        own = {name: chance.normal() for name in dict.fromkeys(self.clusters)}
        latent = self.common + np.sqrt(PRIVATE) * np.array([own[name] for name in self.clusters])
        drawn = latent[:, None] + np.sqrt(1 - ALIKE - PRIVATE) * chance.normal(size=(len(latent), parts))
        return {str(i): float(x) for i, x in enumerate((drawn < special.ndtri(share)).mean(axis=1))}


def questions(chance: np.random.Generator, samples: int, clusters: int) -> Questions:
    """So many questions, spread over clusters."""
    weights = np.linspace(1, 5, clusters)
    names = [*range(clusters), *chance.choice(clusters, samples - clusters, p=weights / weights.sum())]
    of_cluster = chance.normal(size=clusters)
    common = np.sqrt(WITHIN) * of_cluster[names] + np.sqrt(ALIKE - WITHIN) * chance.normal(size=samples)
    return Questions(tuple(map(str, names)), common)


def simulated(draws: int) -> dict[str, float]:
    """Bias and coverage of gains, false "reads", and what the core's reading board detects."""
    figures: dict[str, float] = {}
    held = 0
    for points in (0, 5):
        gains = [_gain(np.random.default_rng([draw, points]), points / 100).gain for draw in range(draws)]
        means = [gain.mean for gain in gains]
        figures[f"bias_{points}"] = round(fmean(means) - points / 100, 4)
        figures[f"bias_{points}_error"] = round(stdev(means) / len(means) ** 0.5, 4)
        held += sum(low <= points / 100 <= high for gain in gains if gain.bounds for low, high in [gain.bounds])
    figures["coverage"] = round(held / (2 * draws), 3)
    reads = sum(_reads(np.random.default_rng([draw, 1])) for draw in range(draws))
    figures["false_reads"] = round(reads / draws, 4)
    figures["core_detectable"] = round(fmean(_detectable(np.random.default_rng(draw)) for draw in range(200)), 3)
    figures["walk_gain_detectable"] = _mean_detectable(WALK, CLUSTERS)
    figures["scalar_gain_detectable"] = _mean_detectable(300, AUTHORS)
    return figures


def _mean_detectable(samples: int, clusters: int) -> float:
    gains = [_gain(np.random.default_rng(draw), 0.1, samples, clusters).gain.detectable for draw in range(200)]
    return round(fmean(gain for gain in gains if gain is not None), 3)


def _gain(chance: np.random.Generator, truth: float, samples: int = 300, clusters: int = 0) -> Gain:
    asked = questions(chance, samples, clusters or CLUSTERS)
    full, short = (asked.answers(chance, share) for share in (SHORT + truth, SHORT))
    return gain_over(LEVEL, "accuracy", "local", "model", full, short, asked.by_id)


def _reads(chance: np.random.Generator) -> bool:
    """Whether a reader that gains a lot over two contexts and a program, and nothing over the third context, is said to read."""
    asked = questions(chance, 300, CLUSTERS)
    full, *shorter = (asked.answers(chance, share) for share in (SHORT, SHORT, 0.25, 0.25, 0.25))
    names = (*SHORTER["cloze"], "accuracy_random")
    gains = [
        gain_over(LEVEL, "accuracy", name, "program" if name == names[-1] else "model", full, short, asked.by_id)
        for name, short in zip(names, shorter, strict=True)
    ]
    return verdict_of(LEVEL, "scalar", gains).reads is True


def _detectable(chance: np.random.Generator) -> float:
    """The smallest difference between two models over the core's reading board; both sizes of Walk ask the same questions."""
    sides: tuple[list[Part], list[Part]] = ([], [])
    walk = questions(chance, WALK, CLUSTERS)
    for core in CORE:
        task = what_of(core.configuration)
        if task not in FLOORS:
            continue
        clusters = AUTHORS if task == "cloze" else CLUSTERS
        asked = walk if task == "walk" else questions(chance, core.samples, clusters)
        for side in sides:
            scores = asked.answers(chance, SHORT, PAIRS if task == "next" else 1)
            part = part_of(core.configuration, task, scores, dict.fromkeys(scores, FLOORS[task]), asked.by_id)
            assert part is not None
            side.append(part)
    over = difference_over(by_task(sides[0]), by_task(sides[1]))
    return over.detectable or 1.0


# --- what it takes


def cost() -> dict[str, float]:
    """Millions of prompt tokens of the core's boards, sent, and computed by a server that keeps what rows of a context share."""
    figures: dict[str, float] = {}
    sizes = {reading.name: reading.size for reading in READINGS}
    for core in CORE:
        name, task = core.configuration, what_of(core.configuration)
        each = SCALAR_TOKENS.get(name) or FILLED * 1024 * sizes.get(name, 0) or 1000 * (thousands_in(name) or 0)
        board = "reading" if task in FLOORS else "writing"
        once = core.samples / PROMPTS_OF_PREFIX.get(task, 1)
        for key, prompts in ((f"core_{board}_tokens", core.samples), (f"core_{board}_tokens_computed", once)):
            figures[key] = figures.get(key, 0.0) + each * prompts / 1e6
    figures["core_tokens"] = figures["core_reading_tokens"] + figures["core_writing_tokens"]
    return {key: round(figure, 1) for key, figure in sorted(figures.items())}


if __name__ == "__main__":
    main()
