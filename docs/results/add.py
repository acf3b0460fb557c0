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
from lm_eval_tasks.base.files import sha256_of_bytes, write_whole
from lm_eval_tasks.base.redaction import without_places
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.run_folder import OURS, only_result, samples_of
from lm_eval_tasks.stats.opened import open_run

HERE = Path(__file__).parent
# Of lm-eval's results: what says nothing of the scores, and much of a machine.
_OF_MACHINE = ("configs", "git_hash", "pretty_env_info", "upper_git_hash")
# Of a line of samples, beside its scores.
_OF_LINE = ("doc_id", "doc_hash", "filter", "metrics", "prompt_hash", "target_hash")


def main(run: str, place: str) -> None:
    """Copy a run.

    Raises:
        EvalError: it has no samples, its numbers are not what they give, it was not made by `academiceval eval`, or the place is taken.
    """
    results, folder = only_result(Path(run)), HERE / place
    content = json.loads(results.path.read_text(encoding="utf-8"))
    if not open_run(results) or OURS not in content:
        raise EvalError(
            f"{run} is no run of `academiceval eval` with its samples, by which its numbers could be checked"
        )
    if folder.exists():
        raise EvalError(f"{folder} is there already: name another place, or remove it")
    texts: dict[Path, str] = {}
    for file in samples_of(results).values():
        lines = (json.dumps(without_texts(json.loads(line)), sort_keys=True) for line in file.open(encoding="utf-8"))
        texts[folder / file.name] = "".join(f"{line}\n" for line in lines)
    kept = without_places({name: value for name, value in content.items() if name not in _OF_MACHINE})
    kept[OURS]["files"] = {file.name: sha256_of_bytes(text) for file, text in texts.items()}
    texts[folder / results.path.name] = json.dumps(kept, indent=1, sort_keys=True) + "\n"
    folder.mkdir(parents=True)
    for file, text in texts.items():
        write_whole(file, text)


def without_texts(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of samples with its scores and hashes, and the bits of each token, but no text of a paper or of a model about one; of
    made-up papers with the model's answer.
    """
    doc = line["doc"]
    answers, scored = line["resps"], line["filtered_resps"]
    if doc.get("way") != LIKELIHOOD and not doc.get("made_up"):
        answers = [["" for _ in each] for each in answers]
        scored = [json.dumps({**json.loads(text), "answer": ""}) for text in scored]
    own = PromptRow.of_doc(doc).short_own(doc.get("own", {}))
    if " " in own.get("section", ""):
        # A heading is a paper's text too.
        own["section"] = "-"
    slots = [{**slot, "head": "", "tail": ""} for slot in doc.get("slots", [])]
    kept_doc = {name: value for name, value in doc.items() if name not in ("prompt", "target", "title")}
    kept_doc |= {"target": "", "title": "", "slots": slots, "own": own, "tokenizer": without_places(doc["tokenizer"])}
    scores = {name: value for name, value in line.items() if isinstance(value, int | float)}
    kept = scores | {name: line[name] for name in _OF_LINE if name in line}
    if "spans" in own:
        kept["span_bytes"] = span_bytes(doc["target"].strip(), own["spans"])
    return {
        **kept,
        "doc": kept_doc,
        "target": "",
        "resps": answers,
        "filtered_resps": scored,
        "reasoning": [{**part, "head": "", "tail": ""} for part in line.get("reasoning", [])],
    }


def span_bytes(text: str, spans: list[dict[str, Any]]) -> list[list[int]]:
    """Return for each span where it begins with the space before it, begins, and ends, in bytes: its bits are those of the tokens there."""
    places = [(span["start"] - text[: span["start"]].endswith(" "), span["start"], span["end"]) for span in spans]
    return [[len(text[:place].encode()) for place in of_span] for of_span in places]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except EvalError as err:
        sys.exit(f"error: {err}")
