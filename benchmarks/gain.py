"""Does a measured gain say what it should? Made-up readers with planted gains, and what the core costs.

Readers behind a made-up server answer SCALAR's questions of a made-up round through `academiceval eval --contexts`: four with planted
gains of 0, 2, 5 and 20 points, one that sees the beginning of the paper, and one that only matches words. What the command states must be
what they answered. Then the tokens that the core takes. `benchmarks/figures.py` measures the intervals of gains.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.shared.running import ACADEMICEVAL, Figures, command, offline, run
from builder.round.configurations import thousands_in
from builder.round.tables import READINGS
from lm_eval_tasks.base.contract import FULL, MASK, Context
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families import of_task, target_of, target_of_configuration
from lm_eval_tasks.families.registry import CORE
from lm_eval_tasks.families.scalar import hook as scalar_hook
from standins import rounds
from standins.openai_server import serve
from standins.rounds import small_round

LEVEL = "SCALAR-Easy"
CONTEXTS: tuple[Context, ...] = (*target_of("scalar").shorter, FULL)
# Rows that begin with the same text: those of a context, a tenth of which is asked again in another order.
PROMPTS_OF_PREFIX = {"walk": 400 / 115, "next": 100 / 80}
# Share of right answers in a shorter context.
SHORT = 0.5
# Mean tokens of SCALAR's own questions; of a reading context, the share of its size.
SCALAR_TOKENS = {"SCALAR-Easy": 71_800, "SCALAR-Medium": 70_200, "SCALAR-Hard": 60_600}
FILLED = 0.89
# Characters that a reader of beginnings sees.
SEEN = 10_000
Row = Mapping[str, Any]
# (row of the dataset as lm-eval has it, context) -> whether the reader is right.
Reader = Callable[[Row, Context], bool]


def measure(folder: Path, quick: bool) -> Figures:
    """Measure both; `quick` takes a smaller round and one reader."""
    stated = through_the_command_line(folder, 20 if quick else 60, list(READERS)[2:3] if quick else list(READERS))
    return {**stated, **cost()}


# --- through the command line


def planted(points: int) -> Reader:
    """Count right in half of the questions, whatever it is shown, and in the full context in so many points more."""

    def is_right(row: Row, context: Context) -> bool:
        drawn = int(sha256_of_bytes(f"{points} {row['id']}")[:8], 16) / 16**8
        return drawn < SHORT + (points / 100 if context == "full" else 0)

    return is_right


def first_characters(row: Row, context: Context) -> bool:
    """Count right if the mask is among the first characters that are shown of the paper."""
    return len(row["prompt"].partition("<Paper>\n\n")[2].partition(MASK)[0]) < SEEN


def matching_words(row: Row, context: Context) -> bool:
    """Count right if BM25 is right about the sentence with the mask."""
    return bool(row["own"]["bm25_local"] == row["own"]["label"])


READERS: dict[str, Reader] = {
    **{f"gains {points}": planted(points) for points in (0, 2, 5, 20)},
    "sees the beginning": first_characters,
    "matches words": matching_words,
}


def through_the_command_line(place: Path, papers: int, readers: list[str]) -> Figures:
    """Return the largest difference between a gain as the command states it and as the readers answered."""
    round_ = small_round(
        place,
        settings=["Title-10K"],
        source={"kind": "sample", "authors": papers, "papers": 3 * papers},
        split={"test": 0.3},
        scalar={"levels": [LEVEL], "questions": 3 * papers},
    )
    rounds.run(round_, LocalEngine())
    options = {"dataset": str(round_.output)}
    rows = {
        context: list(scalar_hook.load(LEVEL, 2000, shown=context, dataset=options["dataset"])["test"])
        for context in CONTEXTS
    }
    errors = [_error(name, rows, options, place / name) for name in readers]
    return {"command_line_error": max(errors), "command_line_questions": len(rows["full"])}


def _error(name: str, rows: Mapping[Context, list[Row]], options: Row, output: Path) -> float:
    """Run a reader; the largest error of its stated gains."""
    answers, right = {}, {}
    for context, of_context in rows.items():
        is_right = [READERS[name](row, context) for row in of_context]
        right[context] = fmean(is_right)
        for row, is_own in zip(of_context, is_right, strict=True):
            answers[row["prompt"]] = (row["own"]["label"] + (not is_own)) % 4
    with serve(lambda body: f"<answer>{answers[body['messages'][-1]['content']]}</answer>") as server:
        given = {
            "model": "local-chat-completions",
            "model_args": f"model=made-up,base_url={server.url}/chat/completions,num_concurrent=8",
            "tasks": "scalar_easy",
            "contexts": ",".join(CONTEXTS),
            "metadata": json.dumps(options),
            "output": output,
        }
        line = [text for option, value in given.items() for text in (f"--{option}", value)]
        command(*ACADEMICEVAL, "eval", "--apply_chat_template", *line)
    shown = (*ACADEMICEVAL, "show", output, "--format", "json", "--all-columns")
    lines = subprocess.run(list(map(str, shown)), check=True, capture_output=True, text=True, env=offline()).stdout
    tables = [row for line in lines.splitlines() for row in json.loads(line)]
    stated = {
        row["Shortcut"].removesuffix(" *"): float(row["Gain [95%]"].split()[0])
        for row in tables
        if row.get("By") == "model"
    }
    print(f"{name}: right {right['full']:.3f}, gains {stated}", flush=True)
    return max(abs(stated[context] - (right["full"] - right[context])) for context in CONTEXTS if context != FULL)


# --- what it takes


def cost() -> Figures:
    """Return millions of prompt tokens of the core's boards, sent, and computed by a server that keeps what rows of a context share."""
    figures: Figures = {}
    sizes = {reading.name: reading.size for reading in READINGS}
    for core in (core for core in CORE if not core.masks):
        name, task = core.configuration, target_of_configuration(core.configuration).name
        each = SCALAR_TOKENS.get(name) or FILLED * 1024 * sizes.get(name, 0) or 1000 * (thousands_in(name) or 0)
        board = of_task(task).board
        once = core.samples / PROMPTS_OF_PREFIX.get(task, 1)
        for key, prompts in ((f"core_{board}_tokens", core.samples), (f"core_{board}_tokens_computed", once)):
            figures[key] = figures.get(key, 0.0) + each * prompts / 1e6
    figures["core_tokens"] = figures["core_reading_tokens"] + figures["core_writing_tokens"]
    return {key: round(figure, 1) for key, figure in sorted(figures.items())}


if __name__ == "__main__":
    run(measure)
