"""Adds a run to this folder, without its texts and without places on the machine that made it.

python docs/results/add.py RUN PAPERS/MODEL/NAME
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.contract import LIKELIHOOD
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import sha256_of, write_whole
from lm_eval_tasks.base.places import without_places
from lm_eval_tasks.samples.run_folder import OURS, only_result, samples_of
from lm_eval_tasks.stats.opened import open_run

HERE = Path(__file__).parent
# Of lm-eval's results: what says nothing of the scores, and much of a machine.
_OF_MACHINE = ("configs", "git_hash", "pretty_env_info", "upper_git_hash")


def main(run: str, place: str) -> None:
    """Copy a whole run; an EvalError, as for every reader of runs, if its numbers are not what its samples give."""
    results = only_result(Path(run))
    if not open_run(results):
        raise EvalError(f"{run} has no samples, by which its numbers could be checked")
    folder = HERE / place
    folder.mkdir(parents=True)
    files = {}
    for file in samples_of(results).values():
        lines = (json.dumps(without_texts(json.loads(line)), sort_keys=True) for line in file.open(encoding="utf-8"))
        write_whole(folder / file.name, "".join(f"{line}\n" for line in lines))
        files[file.name] = sha256_of(folder / file.name)
    content = json.loads(results.path.read_text(encoding="utf-8"))
    kept = without_places({name: value for name, value in content.items() if name not in _OF_MACHINE})
    kept[OURS]["files"] = files
    write_whole(folder / results.path.name, json.dumps(kept, indent=1, sort_keys=True) + "\n")


def without_texts(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of samples with its scores and hashes, and the bits of each token, but no text of a paper or of a model."""
    doc = line["doc"]
    slots = [{**slot, "head": "", "tail": ""} for slot in doc.get("slots", [])]
    is_likelihood = doc.get("way") == LIKELIHOOD
    # What is shown of a text that is asked for by likelihood are offsets and counts.
    own = doc.get("own", {}) if is_likelihood else {}
    cleaned = {
        **doc,
        "target": "",
        "title": "",
        "slots": slots,
        "own": own,
        "tokenizer": without_places(doc["tokenizer"]),
    }
    filtered = [json.dumps({**json.loads(text), "answer": ""}) for text in line["filtered_resps"]]
    answers = line["resps"] if is_likelihood else [["" for _ in of_one] for of_one in line["resps"]]
    reasoning = [{**part, "head": "", "tail": ""} for part in line.get("reasoning", [])]
    kept = {**line, "doc": cleaned, "target": "", "resps": answers, "filtered_resps": filtered}
    return {**kept, "reasoning": reasoning} if reasoning else kept


if __name__ == "__main__":
    main(*sys.argv[1:])
