"""Questions of a round and their scores, with `datasets` and the standard library alone, beside a clone of this repository.

python portable.py academiceval Walk-128K                  # JSON lines: id, prompt
python portable.py academiceval Walk-128K answers.jsonl    # of lines {id, answer}: the mean score, read strictly
"""

import json
import re
import sys
from pathlib import Path

from datasets import load_dataset

PROMPTS = Path(__file__).parents[1] / "lm_eval_tasks" / "families"
WORDS = {file.stem: file.read_text(encoding="utf-8") for file in PROMPTS.glob("*/*.txt")}
CALLED = {"walk": ("", "Paper"), "next": ("Passage", "Passage"), "match": ("Mask", "Paper")}


def fill(text, **fields):
    return re.sub(r"\{([A-Z]+)\}", lambda field: fields.get(field[1], field[0]), text)


def scalar(row):
    pairs = enumerate(f"{work['title']}\n\n{work['content']}" for work in row["candidates"])
    candidates = "".join(fill(WORDS["scalar_candidate"], INDEX=str(i), CANDIDATE=text) for i, text in pairs)
    return fill(WORDS["scalar"], PAPER=row["question"], CANDIDATES=candidates)


def shown(part, text, at):
    pieces = []
    for edit in part["edits"]:
        pieces += [text[at : edit["start"]], edit["text"]]
        at = edit["end"]
    return re.sub("(?m)^={3,}", "= = =", "".join(pieces) + text[at : part["end"]]).strip()


def reading(row, family, texts):
    papers = [texts[paper["texts"], paper["id"]] for paper in row["papers"]]
    parts = [shown(part, papers[part["paper"]], part["start"]) for part in row["parts"]]
    asked, label = CALLED[family]
    head, tail = WORDS[family].split("{PARTS}")
    labelled = "".join(f"=== {label} {i} ===\n{text}\n\n" for i, text in enumerate(parts[: row["labels"]], 1))
    kinds, titles = dict(line.split(": ", 1) for line in WORDS["walk_questions"].splitlines()), row["works"] or [{}]
    question = fill(kinds.get(row["kind"], ""), FIRST=titles[0].get("title"), SECOND=titles[-1].get("title"))
    wanted = {"ASKED": ", ".join(f"{asked} {i}" for i in row["asked"]), "MASKS": str(len(row["asked"]))}
    last = "".join(parts[row["labels"] :])
    return fill(head, COUNT=str(row["labels"])) + labelled + fill(tail, LAST=last, QUESTION=question, **wanted)


def score(row, family, answer):
    if family == "scalar":
        return float([tag.strip() for tag in re.findall("<answer>(.*?)</answer>", answer)][-1:] == [str(row["label"])])
    asked, label = CALLED[family]
    named = re.search(r"[\[{][^\[{]*$", answer.strip().removesuffix("```"))
    try:
        said = json.loads(named[0]) if named else None
    except ValueError:
        said = None
    if family == "walk":
        return float(isinstance(said, list) and sorted(map(str, said)) == sorted(f"{label} {i}" for i in row["answer"]))
    pairs = said if isinstance(said, dict) else {}
    right = [pairs.get(f"{asked} {i}") == f"{label} {j}" for i, j in zip(row["asked"], row["answer"])]
    return sum(right) / len(right)


if __name__ == "__main__":
    dataset, setting, *answers = sys.argv[1:]
    family, rows, texts = setting.partition("-")[0].lower(), load_dataset(dataset, setting, split="test"), {}
    for name in {paper["texts"] for row in rows for paper in row.get("papers", ())}:
        for split in load_dataset(dataset, name).values():
            texts |= {(name, row["id"]): row["text"] for row in split}
    if answers:
        lines = Path(answers[0]).read_text(encoding="utf-8").strip().split("\n")
        given = {line["id"]: line["answer"] for line in map(json.loads, lines)}
        print(sum(score(row, family, given[row["id"]]) for row in rows) / len(rows))
    else:
        for row in rows:
            prompt = scalar(row) if family == "scalar" else reading(row, family, texts)
            print(json.dumps({"id": row["id"], "prompt": prompt}))
