"""The results page at size: 20 models x 19 settings x 200 samples, built, measured, and opened in headless Chromium.

Prompts are made up at the length of their settings' excerpts: each slot with 4,000 characters, as `academiceval eval` writes them. The
first paint is null without playwright and a browser.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.shared.running import ACADEMICEVAL, Figures, command, run
from builder.round.configurations import thousands_in
from lm_eval_tasks.families.scalar import LEVELS
from lm_eval_tasks.families.writing.settings import SETTINGS
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL, texts_hash
from standins.runs import rewrite, write_results

WORDS = "the model of a graph and its papers we show that long inputs help or hurt as tokens grow beyond what was read".split()
LICENSE = "http://creativecommons.org/licenses/by/4.0/"
# Setting or level -> what it asks for, and words of a target.
NAMES = {**{setting.name: setting.task for setting in SETTINGS}, **{level.name: "scalar" for level in LEVELS}}
TARGET_WORDS = {"title": 10, "abs": 180, "intro": 700, "related": 600}
# What a question of SCALAR says besides what all prompts do.
_SCALAR = dict(
    section="introduction",
    citation_type="background",
    candidate_ids=("a", "b", "c", "d"),
    best_constant=0,
    is_sound=True,
)
ALONE = ("Title-10K", "Abs-9K", "Intro-8K", "Related-34K")


def measure(folder: Path, quick: bool) -> Figures:
    """Make results, build their site, measure it."""
    models, samples = (4, 20) if quick else (20, 200)
    results, site = folder / "results", folder / "site"
    make_results(results, models, samples)
    used = command(*ACADEMICEVAL, "report", results, "-o", site)
    loaded = re.findall(r'(?:src|href)="([^"]+\.(?:css|js))"', (site / "index.html").read_text(encoding="utf-8"))
    landing = sum((site / name).stat().st_size for name in ("index.html", *loaded))
    return {
        "seconds": round(used.seconds, 1),
        "peak_mb": round(used.peak_mb, 1),
        "landing_kb": round(landing / 1000, 1),
        "first_paint_ms": first_paint(site),
    }


def first_paint(site: Path) -> float | None:
    """Return milliseconds to the leaderboard's first contentful paint, the median of five fresh pages."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        return None
    painted = "performance.getEntriesByName('first-contentful-paint')"
    paints = []
    with sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        except Error:
            return None
        for _ in range(5):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto((site / "index.html").as_uri())
            page.wait_for_selector("#filters:not([hidden])")
            page.wait_for_function(f"{painted}.length")
            paints.append(page.evaluate(f"{painted}[0].startTime"))
        browser.close()
    return float(round(median(paints), 1))


# --- what `academiceval eval` and `judge` would have written


def make_results(place: Path, models: int, samples: int) -> None:
    """Write the results of made-up models over the same made-up papers."""
    rng = random.Random(7)
    text = " ".join(rng.choices(WORDS, k=40_000))
    for m in range(models):
        model = f"model-{m:02d}"
        folder = place / model
        folder.mkdir(parents=True)
        judged: dict[str, Any] = {"judged_model": model, "round": "2026.11", "verdicts": {}, "texts": {}}
        for name, task in NAMES.items():
            lines = [sample(text, rng, name, m, i) for i in range(samples)]
            content = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"samples_{name.lower()}_{model}.jsonl").write_text(content, encoding="utf-8")
            if task != "scalar":
                judged["verdicts"][name] = {
                    line["doc"]["id"]: {"judge-a": [verdict(rng), verdict(rng)]} for line in lines
                }
                judged["texts"][name] = {
                    line["doc"]["id"]: texts_hash(line["resps"][0][0], line["target"]) for line in lines
                }
        write_results(folder, model, f"2026-{1 + m % 6:02d}")
        rewrite(folder, lambda line: line)
        (folder / f"judge_{model}.json").write_text(json.dumps(judged))


def verdict(rng: random.Random) -> dict[str, int]:
    """Return who won in one order, dimension by dimension."""
    return {name: rng.choice((1, 2)) for name in (*DIMENSIONS, OVERALL)}


def sample(text: str, rng: random.Random, setting: str, m: int, i: int) -> dict[str, Any]:
    """Return a model's logged answer to one prompt."""
    task, skill, at, cut = NAMES[setting], 0.1 + 0.02 * m, 997 * i % 100_000, m % 3
    paper = f"26{1 + i % 10:02d}.{i:05d}v1"
    if task == "scalar":
        target, answer = str(i % 4), str(rng.randrange(4))
        scores = {"accuracy": float(rng.random() < 0.2 + skill), "accuracy_random": 0.25, "no_answer": 0.0}
    else:
        target = " ".join(text[at:].split(maxsplit=TARGET_WORDS[task])[:-1])
        answer = f"{target[m:]} {m}"
        score = min(1.0, max(0.0, rng.gauss(skill, 0.08)))
        scores = {
            "rouge_l_content": score,
            "rouge_l_content_wrong_paper": abs(rng.gauss(0.04, 0.01)),
            "rouge_l": score,
            "bertscore": min(1.0, score + 0.4),
            "rouge_l_wrong_paper": abs(rng.gauss(0.08, 0.02)),
            "bertscore_wrong_paper": min(1.0, abs(rng.gauss(0.48, 0.02))),
            "empty": 0.0,
            "length_ratio": 1.0,
        }
    tokens = 1000 * (thousands_in(setting) or 30)
    doc = {
        "id": f"{paper}#{i}" if task == "scalar" else paper,
        "paper_id": paper,
        "title": f"Paper {i} about {text[at : at + 40]}",
        "published": f"2026-{1 + i % 10:02d}-{1 + i % 28:02d}",
        "license": LICENSE,
        "licenses": [LICENSE],
        "target": target,
        "round": "2026.11",
        "first_author": f"Author {i % 150}",
        "setting": setting,
        "prompt_name": "scalar" if task == "scalar" else f"{task}_short",
        "prompt_version": 1,
        "retriever": "",
        "tokens_before": tokens,
        "tokens_after": tokens - 100 * cut,
        "cut_body": 100 * cut,
        "slots": list(slots(text, setting, at, cut)),
        "own": {**_SCALAR, "level": setting, "label": i % 4} if task == "scalar" else {},
    }
    return {
        "doc_id": i,
        "doc": doc,
        "target": target,
        "resps": [[answer]],
        "filtered_resps": [json.dumps({"answer": answer, "scores": {**scores, "truncated": float(cut > 0)}})],
        "prompt_hash": hashlib.sha256(f"{setting}{i}".encode()).hexdigest(),
    }


def slots(text: str, setting: str, at: int, cut: int) -> Iterator[dict[str, Any]]:
    """Yield a title, a body and, by the setting's name, demonstrations or candidates; each with the ends that are kept."""
    shown = 0 if setting in ALONE else 4 if setting.startswith("SCALAR") or setting.endswith("-M") else 2
    parts = [("demonstration", n, field) for n in range(shown) for field in ("content", "output")]
    for n, (part, index, field) in enumerate([*parts, ("fixed", 0, "title"), ("body", 0, "content")]):
        size = 60 if field == "title" else 40_000
        kept = size - (400 * cut if part == "body" else 0)
        yield {
            "component": part,
            "index": index,
            "field": field,
            "characters": size,
            "start": 0,
            "end": kept,
            "head": text[(at + 31 * n) % 90_000 :][: min(kept, 2000)],
            "tail": text[(at + 57 * n + cut) % 90_000 :][:2000] if kept > 4000 else "",
        }


if __name__ == "__main__":
    run(measure)
