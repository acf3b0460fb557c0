"""Small things that users wait for: repeating a run, the checks of a push, the bare lm_eval command.

The folder `lab` becomes a round; with `--quick` it is the made-up arXiv. Every command is a separate process; figures are ratios of
processor time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.shared.running import ACADEMICEVAL, Figures, command, run
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins import hub_server
from standins.places import BIN, DATA

ROUND = """
round = "2026.11"
seed = 2026
settings = ["Abs-9K", "Title-10K", "Abs-28K", "Intro-8K"]
[source]
{source}
[split]
validation = 0.2
test = 0.2
[samples]
min_citations = 1
"""
# What checks and verify cannot do without: each file read once, each configuration loaded once.
FLOOR = """
import hashlib, sys
from pathlib import Path
from datasets import load_dataset
folder = Path(sys.argv[1])
for path in sorted(folder.rglob("*")):
    if path.is_file():
        hashlib.sha256(path.read_bytes()).hexdigest()
for path in sorted(folder.iterdir()):
    if path.is_dir():
        load_dataset(str(folder), path.name, cache_dir=sys.argv[2])
"""
# A task as lm-eval has them, over the same prompts and targets.
OWN = """
task: own
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{messages[0].content}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs: {{max_gen_toks: 16, until: ["</s>"]}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""


def measure(folder: Path, quick: bool) -> Figures:
    """Return all ratios; the faster of two turns each."""
    turns = 1 if quick else 2
    source = 'kind = "sample"\nauthors = 16\npapers = 36' if quick else f'kind = "mirror"\npath = "{DATA / "lab"}"'
    (folder / "round.toml").write_text(ROUND.format(source=source))
    build = (*ACADEMICEVAL, "run", folder / "round.toml", "-q")
    first = command(*build).processor_seconds
    figures = {"again": command(*build).processor_seconds / first}
    floor, *published = fastest([publishing(folder, folder / f"cache{turn}") for turn in range(turns)])
    figures |= dict(zip(("push_checks", "push", "verify"), (seconds / floor for seconds in published), strict=True))
    ours, plain = fastest([harness(folder) for _ in range(turns)])
    figures["lm_eval"] = ours / plain
    return {name: round(ratio, 3) for name, ratio in figures.items()}


def fastest(turns: list[tuple[float, ...]]) -> list[float]:
    """Return the shortest time of each command over the turns."""
    return [min(seconds) for seconds in zip(*turns, strict=True)]


def publishing(place: Path, cache: Path) -> tuple[float, ...]:
    """Return the processor seconds: of the floor, a push that only checks, a whole push, and verify."""
    folder, home = place / "academiceval", str(place / "home")
    floor = command(sys.executable, "-c", FLOOR, folder, cache, HF_HOME=home)
    with hub_server.serve() as hub:
        at = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_write", "HF_HOME": home, "HF_HUB_OFFLINE": "0"}
        push = (*ACADEMICEVAL, "push", folder, "--repo", "org/academiceval", "--licenses", "all")
        checked = command(*push, **at)
        pushed = command(*push, "--yes", **at)
        verified = command(*ACADEMICEVAL, "verify", "org/academiceval", "--revision", "2026.11", **at)
    return tuple(used.processor_seconds for used in (floor, checked, pushed, verified))


def harness(place: Path) -> tuple[float, ...]:
    """Return the processor seconds of the bare `lm_eval` on one of our tasks, and on one of lm-eval's kind with the same prompts."""
    tasks, rows = place / "tasks", place / "rows.jsonl"
    exported = ("export", place / "academiceval", "--setting", "Abs-9K", "--output", rows)
    command(*ACADEMICEVAL, *exported)
    tasks.mkdir(exist_ok=True)
    (tasks / "own.yaml").write_text(OWN.format(file=json.dumps(str(rows))))
    metadata = json.dumps({"dataset": str(place / "academiceval"), "bertscore_model": "none"})
    lines = (
        ("--tasks", "academiceval_abs_9k", "--include_path", tasks_path(), "--metadata", metadata),
        ("--tasks", "own", "--include_path", tasks),
    )
    home = str(place / "home")
    return tuple(command(BIN / "lm_eval", "--model", "dummy", *line, HF_HOME=home).processor_seconds for line in lines)


if __name__ == "__main__":
    run(measure, DATA / "lab")
