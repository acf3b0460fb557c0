"""Small things that users wait for: repeating a run, the checks of a push, the bare lm_eval command.

  python benchmarks/small.py [DATA] [--quick]

DATA: default ../shared/data, of which `lab` becomes a round; with --quick it is the made-up arXiv. Every command is a separate process;
figures are ratios of processor time. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lm_eval_tasks.tasks.folder import tasks_path  # noqa: E402
from tests.helpers import hub_server  # noqa: E402

BIN = Path(sys.executable).parent
ROUND = """
round = "2026.11"
seed = 2026
settings = {settings}
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
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs: {{max_gen_toks: 16, until: ["</s>"]}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if not arguments.quick and not (arguments.data / "lab").is_dir():
        parser.exit(1, f"error: no folder {arguments.data / 'lab'}\n")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = again(place, None if arguments.quick else arguments.data / "lab")
        figures |= publishing(place)
        figures |= harness(place)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def seconds(*command: object, **environment: str) -> float:
    """Processor seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    subprocess.run([str(one) for one in command], check=True, env={**own, **environment}, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def again(place: Path, lab: Path | None) -> dict[str, float]:
    """A run, and the same run again."""
    source = f'kind = "mirror"\npath = "{lab}"' if lab else 'kind = "sample"\nauthors = 16\npapers = 36'
    settings = '["Abs-9K", "Title-10K", "Abs-28K", "Intro-8K"]'
    (place / "round.toml").write_text(ROUND.format(source=source, settings=settings))
    run = (BIN / "academiceval", "run", place / "round.toml", "-q")
    first = seconds(*run)
    return {"again": seconds(*run) / first}


def publishing(place: Path) -> dict[str, float]:
    """A push, most of which is checks and the verification of what was pushed, and verify alone; the faster of two each."""
    runs = [_published(place, place / f"cache{i}") for i in range(2)]
    least = {name: min(run[name] for run in runs) for name in runs[0]}
    return {name: least[name] / least["floor"] for name in ("push_checks", "push", "verify")}


def _published(place: Path, cache: Path) -> dict[str, float]:
    folder = place / "academiceval"
    floor = seconds(sys.executable, "-c", FLOOR, folder, cache, HF_HUB_OFFLINE="1", HF_HOME=str(place / "home"))
    with hub_server.serve() as hub:
        at = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_write", "HF_HOME": str(place / "home")}
        push = (BIN / "academiceval", "push", folder, "--repo", "org/academiceval", "--licenses", "all")
        planned = seconds(*push, **at)
        pushed = seconds(*push, "--yes", **at)
        verified = seconds(BIN / "academiceval", "verify", "org/academiceval", "--revision", "2026.11", **at)
    return {"floor": floor, "push_checks": planned, "push": pushed, "verify": verified}


def harness(place: Path) -> dict[str, float]:
    """The bare `lm_eval` on one of our tasks, and on one of lm-eval's kind with the same prompts."""
    prompts = place / "prompts.jsonl"
    export = (BIN / "academiceval", "export", place / "academiceval", "--setting", "Abs-9K", "--format", "prompts")
    seconds(*export, "--output", prompts, HF_HUB_OFFLINE="1")
    rows = [json.loads(line) for line in prompts.read_text(encoding="utf-8").splitlines()]
    kept = [{"prompt": row["prompt"], "target": row.get("target", "")} for row in rows]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    (place / "tasks").mkdir()
    (place / "tasks" / "own.yaml").write_text(OWN.format(file=json.dumps(str(place / "rows.jsonl"))))
    metadata = json.dumps({"dataset": str(place / "academiceval"), "bertscore_model": "none"})
    bare = (BIN / "lm_eval", "--model", "dummy")
    at = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(place / "home")}
    own = (*bare, "--tasks", "own", "--include_path", place / "tasks")
    ours = (*bare, "--tasks", "academiceval_abs_9k", "--include_path", tasks_path(), "--metadata", metadata)
    pairs = [(seconds(*ours, **at), seconds(*own, **at)) for _ in range(2)]
    return {"lm_eval": min(one for one, _ in pairs) / min(other for _, other in pairs)}


if __name__ == "__main__":
    main()
