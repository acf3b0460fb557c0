"""How much of the prompts a server computes that keeps what prompts begin with: in our order of questions, and in lm-eval's for vLLM.

A round of made-up papers, questions over 128K. The cache holds blocks of 64 characters (16 tokens), room for one and a half prompts,
and lets go what was used longest ago; nothing is sent anywhere.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.shared.running import Figures, run
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.engines.local import LocalEngine
from lm_eval_tasks.evaluate.order import by_beginning
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.tasks.folder import tasks_path
from tests.helpers import rounds
from tests.helpers.rounds import small_round

BLOCK = 64
# Characters at the beginning of a prompt that tell its context: its first papers stand before anything that is asked.
BEGINNING = 2_000


def measure(folder: Path, quick: bool) -> Figures:
    """The shares that are computed, and how often a context is begun."""
    authors, papers, contexts = (12, 160, 10) if quick else (100, 1200, 80)
    round_ = small_round(
        folder,
        source={"kind": "sample", "authors": authors, "papers": papers},
        split={"validation": 0.1, "test": 0.5},
        reading={"configurations": ["Walk-128K", "Next-128K"], "contexts": contexts},
    )
    rounds.run(round_, LocalEngine())
    prompts = prompts_of(round_.output)
    room = max(map(len, prompts)) * 3 // 2
    different = len({prompt[:BEGINNING] for prompt in prompts})
    ours = [prompts[i] for i in by_beginning(prompts)]
    # By length in tokens, longest first. Questions about one context differ as little in characters.
    like_lm_eval = sorted(prompts, key=lambda prompt: (-len(prompt), prompt))
    return {
        "questions": len(prompts),
        "contexts": different,
        "computed_ours": computed(ours, room),
        "computed_lm_eval": computed(like_lm_eval, room),
        "computed_least": computed(sorted(prompts), sum(map(len, prompts))),
        "reads_ours": round(reads(ours) / different, 2),
        "reads_lm_eval": round(reads(like_lm_eval) / different, 2),
    }


def reads(prompts: Sequence[str]) -> int:
    """How often the context changes, the first included."""
    return 1 + sum(prompt[:BEGINNING] != other[:BEGINNING] for prompt, other in pairwise(prompts))


def prompts_of(dataset: Path) -> list[str]:
    """The prompts of the test questions, in the order of the dataset."""
    metadata = {"dataset": str(dataset), "bertscore_model": "none"}
    tasks = RunTasks([tasks_path()], metadata).load(["academiceval_walk_128k", "academiceval_next_128k"])["tasks"]
    return [doc_to_text(doc) for task in tasks.values() for doc in task.dataset["test"]]


def computed(prompts: Iterable[str], room: int) -> float:
    """The share of the characters that the server computes.

    Args:
        room: characters that its cache holds.
    """
    cache: OrderedDict[int, None] = OrderedDict()
    work = total = 0
    for prompt in prompts:
        beginning = 0
        for start in range(0, len(prompt), BLOCK):
            block = prompt[start : start + BLOCK]
            beginning = hash((beginning, block))
            total += len(block)
            if beginning in cache:
                cache.move_to_end(beginning)
            else:
                work += len(block)
                cache[beginning] = None
        while len(cache) * BLOCK > room:
            cache.popitem(last=False)
    return round(work / total, 3)


if __name__ == "__main__":
    run(measure)
