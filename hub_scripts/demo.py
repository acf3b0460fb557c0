"""`academiceval demo`: a full round over the made-up arXiv, and an evaluation of the baselines. Needs no network."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from builder.dataset import tables
from builder.errors import RoundError
from builder.pipeline import build, stages
from builder.round.model import load_round
from builder.workspace import Workspace
from hub_scripts.report.site import report
from lm_eval_tasks.base.contract import BM25_PARTS, TITLE_SEARCH
from lm_eval_tasks.base.files import write_whole
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.run import evaluate
from lm_eval_tasks.evaluate.run_plan import RunPlan
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.compressors import PPMD
from lm_eval_tasks.families.reading import BLIND
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.stats.kept import shown_kept
from lm_eval_tasks.stats.opened import read_runs
from lm_eval_tasks.stats.scores import score_table

_ROUND = """\
round = "2026.11"
seed = 2026
workspace = "work"
output = "academiceval"

[source]
kind = "sample"

[split]
validation = 0.2
test = 0.2

[scalar]
levels = ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"]

[reading]
configurations = ["Walk-128K", "Next-128K"]
contexts = 12

[recall]
sizes = ["4K", "8K"]
"""

_WRITING = of_task("title")
_WALK, _NEXT = "academiceval_walk_128k", "academiceval_next_128k"
_WRITING_TASKS = tuple(f"academiceval_{name}" for name in ("title_31k_g", "abs_29k_g", "intro_28k_g", "related_53k_g"))
_RECALL_TASKS = tuple(f"academiceval_recall_{name}" for name in ("alone", "4k", "8k", "without"))
_READING_TASKS = {BLIND: (_WALK, _NEXT), TITLE_SEARCH: (_WALK,), BM25_PARTS: (_NEXT,)}


def demo(folder: Path, jobs: int) -> Iterator[str | Table]:
    """Run the demonstration in a folder and yield the lines to show."""
    root = folder.resolve()
    root.mkdir(parents=True, exist_ok=True)
    file = root / "round.toml"
    if file.exists() and file.read_text(encoding="utf-8", errors="replace") != _ROUND:
        raise RoundError(f"{file} exists and is not the demonstration's: choose another --folder")
    write_whole(file, _ROUND)
    round_ = load_round(file)
    yield f"A round over a made-up arXiv, in {root}"
    with LocalEngine(jobs) as engine, Workspace.open(round_) as workspace:
        yield from (report.line() for report in stages(workspace, engine))
        # An earlier release may have made its folder otherwise.
        manifest, reports = build(workspace, engine, replace=True)
    yield from (report.line() for report in reports)
    yield ""
    for table in tables.build_tables(manifest):
        yield from (table, "")
    yield "Baselines on the test split (without BERTScore, which would take longer than all the rest)"
    metadata = {"dataset": str(round_.output), "bertscore_model": NO_MODEL}
    scores = _run(dict.fromkeys(_WRITING.baselines, _WRITING_TASKS), metadata, root)
    headline = _WRITING.metrics[0]
    yield from score_table([each for each in scores if each.metric in (headline.name, *headline.zero)])
    yield ""
    yield "Answers to reading questions that need no papers: constant answers, or search results"
    yield from score_table(_run(_READING_TASKS, metadata, root))
    yield ""
    yield "Bits a compressor recalls of numbers and names from the paragraphs that state them, alone and among other papers"
    _run({PPMD: _RECALL_TASKS}, metadata, root)
    yield from shown_kept(read_runs([root / "results" / PPMD]))
    yield ""
    yield from report([root / "results", round_.output], root / "site", "all")
    yield f"Dataset card: {round_.output / 'README.md'}"
    yield f"Round: {root / 'round.toml'}; `academiceval status round.toml` there shows its workspace"
    yield (
        f"With the weights of a model: cd {root} && academiceval link-tasks && "
        "lm_eval --tasks academiceval_abs_9k --model hf --model_args pretrained=YOUR/MODEL"
    )


def _run(baselines: Mapping[str, tuple[str, ...]], metadata: Mapping[str, object], root: Path) -> list[Score]:
    """Evaluate baselines, each on its tasks."""
    scores = []
    for name, tasks in baselines.items():
        plan = RunPlan.of(model=name, tasks=tasks, metadata=metadata, output=root / "results" / name)
        scores += evaluate(plan)
    return scores
