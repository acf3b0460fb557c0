"""In a clone: ROUND SETTING [ANSWERS: JSON lines of id, answer] -> JSON lines of id, prompt and, read strictly, score."""

import json
import re
import sys

from datasets import load_dataset

folder, setting, *files = sys.argv[1:]
family, words = setting.partition("-")[0].lower(), f"{sys.path[0]}/../lm_eval_tasks/families"
asked, label = {"next": ("Passage", "Passage"), "match": ("Mask", "Paper")}.get(family, ("", "Paper"))
form = "<Candidate>Candidate [{}]:\n{}</Candidate>\n\n" if family == "scalar" else f"=== {label} {{}} ===\n{{}}\n\n"
in_tag = r"<answer>(?:[ \t]|[Ii]ndex)*(\d+)(?:[ \t]|[Ii]ndex)*</answer>(?!(?s:.*)<answer>.*</answer>)"
at_the_end = {"scalar": in_tag, "walk": r'Paper \d+(?="[^][]*]$)|\[]$'}
prompt, kinds = (open(f"{words}/{name}.txt").read() for name in (f"{family}/{family}", "walk/walk_questions"))
answers = {line["id"]: line["answer"].rstrip("` \n") for file in files for line in map(json.loads, open(file))}
rows, texts = load_dataset(folder, setting, split="test").to_list(), {}
for name in {paper["texts"] for row in rows for paper in row.get("papers", [])}:
    texts |= {(name, row["id"]): row["text"] for split in load_dataset(folder, name).values() for row in split}
for row in rows:
    heads = ("\n", "") if row.get("candidate_text") == "body" else ("{title}\n\n", "{title}\n\n")
    parts = [heads[not work["content"]].format(**work) + work["content"] for work in row.get("candidates", [])]
    for part in row.get("parts", []):
        paper = row["papers"][part["paper"]]
        text = texts[paper["texts"], paper["id"]][: part["end"]]
        for edit in reversed(part["edits"]):
            text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
        parts.append(re.sub("(?m)^={3,}", "= = =", text[part["start"] :]).strip())
    count, works = row.get("labels", len(parts)), row.get("works") or [{"title": ""}]
    marks, right = [f"{asked} {i}" for i in row.get("asked") or []], [f"{label} {i}" for i in row.get("answer") or []]
    shown = "".join(form.format(i, part) for i, part in enumerate(parts[:count], family != "scalar"))
    fields = {"CANDIDATES": shown, "PARTS": shown, "COUNT": str(count), "LAST": "".join(parts[count:])}
    fields |= {"PAPER": row.get("question"), "FIRST": works[0]["title"], "SECOND": works[-1]["title"]}
    fields |= {"ASKED": ", ".join(marks), "MASKS": str(len(marks)), "QUESTION": ""}
    for template in (*re.findall(f"(?m)^{row.get('kind')}: (.*)", kinds), prompt):
        fields["QUESTION"] = re.sub(r"\{([A-Z]+)\}", lambda field: fields[field[1]], template)
    said = re.findall(at_the_end.get(family, r'"(\w+ \d+)": "(\w+ \d+)"(?=[^{}]*}$)'), answers.get(row["id"], ""))
    right = list(zip(marks, right)) or right or [str(row.get("label", "[]"))]
    score = sum(pair in said for pair in right) / len(right) if marks else sorted(said) == sorted(right)
    print(json.dumps({"id": row["id"], "prompt": fields["QUESTION"], "score": float(score)}))
