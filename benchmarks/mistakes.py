"""How soon a typing mistake is answered: processor time of `academiceval`, over that of an interpreter that does nothing.

  python benchmarks/mistakes.py [--quick]

Each command has one mistake: in a command, an option, a value, a file. The least of five runs each, with --quick of two. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent
EVAL = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k")
ROUND = 'round = "2026.11"\nsettings = ["Abs-9K"]\n[source]\nkind = "sample"\nauthors = 60\n[papers]\npublished_from = 2026-01-01\n'
LIVE = 'repo = "org/academiceval"\nmax_cost = 5\n'
MODELS = '[a]\nconfig = "a.yaml"\n'
COMMANDS: dict[str, tuple[str, ...]] = {
    "version": ("--version",), "help": ("--help",), "command": ("evla",), "option": ("eval", "--modle", "lead"),
    "choice": ("push", "academiceval", "--repo", "org/a", "--licenses", "al"), "repository": ("push", "academiceval", "--repo", "x"),
    "task": ("eval", "--model", "lead", "--tasks", "academiceval_abs_9"), "model": ("eval", "--model", "hff", *EVAL[3:]),
    "seed": (*EVAL, "--seed", "x"), "samples": (*EVAL, "--samples", '{"abs": [0]}'),
    "dataset": (*EVAL, "--metadata", '{"dataset": "gone"}'),
    "setting": ("export", "academiceval", "--setting", "Abs-9J"), "metric": ("metrics", "academiceval", "--metrics", "rouge_ll"),
    "bertscore": ("metrics", "academiceval", "--bertscore_model", "minlm"), "prices": (*EVAL, "--prices", "gone.toml"),
    "label": ("report", "academiceval", "--label", "a=gone"), "models file": ("report", "academiceval", "--models", "gone.toml"),
    "judge": ("judge", "academiceval"), "judge's prices": ("judge", "academiceval", "--model", "x", "--prices", "gone.toml"),
    "no output": ("extract", "gone.pdf"),
    "path": ("report", "gone"), "month": ("live", "live.toml", "--round", "2026.13"), "round.toml": ("run", "gone.toml"),
}  # fmt: skip
METADATA = {
    "key": {"datset": "academiceval"}, "split": {"split": "tset"}, "cut": {"cut": "midle"}, "config": {"config": "Abs-9J"},
    "bertscore_model": {"bertscore_model": "minlm"}, "retriever": {"retriever": "bm52"}, "day": {"published_after": "2026-13-01"},
}  # fmt: skip
FILES = {
    "live.toml": ("repo", "rpeo"), "live.toml value": ("5", '"much"'), "models.toml": ("config", "confg"),
    "round key": ("source", "soruce"), "round kind": ("sample", "sampel"), "round setting": ("Abs-9K", "Abs-9J"),
    "round type": ("60", '"60"'), "round bound": ("60", "1"), "round day": ("2026-01-01", '"2026-02-30"'),
}  # fmt: skip


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    runs = 2 if parser.parse_args().quick else 5
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "academiceval").mkdir()
        (place / "academiceval" / "manifest.json").write_text('{"configurations": [{"name": "Abs-9K"}]}')
        bare = min(seconds(place, sys.executable, "-c", "") for _ in range(3 * runs))
        ratios = {}
        for what, command in _commands(place).items():
            ratios[what] = min(seconds(place, BIN / "academiceval", *command) for _ in range(runs)) / bare
            print(f"{what:<16} {ratios[what]:.2f}")
    worst = max(ratios, key=lambda what: ratios[what])
    print(json.dumps({"worst": round(ratios[worst], 2), "which": worst, "mistakes": len(ratios)}))


def _commands(place: Path) -> dict[str, tuple[str, ...]]:
    """What is tried -> the command's arguments; the files that they name are written."""
    found = dict(COMMANDS)
    for what, given in METADATA.items():
        found[f"--metadata {what}"] = (*EVAL, "--metadata", json.dumps(given))
    texts = {"round": ROUND, "live.toml": LIVE, "models.toml": MODELS}
    (place / "live.toml").write_text(LIVE)
    for number, (what, (right, wrong)) in enumerate(FILES.items()):
        kind = what.split()[0]
        folder = place / str(number)
        folder.mkdir()
        for name, text in texts.items():
            assert name != kind or right in text
            (folder / name).write_text(text.replace(right, wrong, 1) if name == kind else text)
        found[what] = ("run", str(folder / "round")) if kind == "round" else ("live", str(folder / "live.toml"))
    return found


def seconds(place: Path, *command: object) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(one) for one in command], cwd=place, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
