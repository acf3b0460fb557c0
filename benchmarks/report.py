"""The results page at size: 20 models x 19 settings x 200 samples, built, measured, and opened in headless Chromium.

    python benchmarks/report.py [--quick] [--keep FOLDER]

Prompts are made up at the length of their settings' excerpts: each slot with 4,000 characters, as `academiceval eval` writes them.
The last line is JSON: seconds, peak_mb, landing_kb, first_paint_ms (null without playwright and a browser).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from builder.round.configurations import thousands_in
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL, texts_hash
from lm_eval_tasks.tasks.records import SETTINGS
from tests.helpers.runs import write_results

WORDS = "the model of a graph and its papers we show that long inputs help or hurt as tokens grow beyond what was read".split()
LEVELS = ("SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard")
TARGET_WORDS = {"title": 10, "abs": 180, "intro": 700, "related": 600}


def main() -> None:
    """Make results, build their site, measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 models x 19 settings x 20 samples")
    parser.add_argument("--keep", type=Path, help="leave results and site in this folder")
    arguments = parser.parse_args()
    models, samples = (4, 20) if arguments.quick else (20, 200)
    with tempfile.TemporaryDirectory() as fresh:
        place = arguments.keep or Path(fresh)
        size = make_results(place / "results", models, samples)
        print(f"{models} models x 19 settings x {samples} samples: {size / 1e6:.0f} MB of results")
        figures = build(place)
        landing = landing_size(place / "site")
        paint = first_paint(place / "site")
        print(f"built in {figures['seconds']:.1f} s, peak {figures['peak_mb']:.0f} MB")
        print(f"landing page {landing:.0f} kB, first paint {paint} ms")
        print(json.dumps({**figures, "landing_kb": round(landing, 1), "first_paint_ms": paint}))


def build(place: Path) -> dict[str, float]:
    """Build the site in a separate process, whose memory is its children's."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "builder.cli", "report", str(place / "results"), "-o", str(place / "site")], check=True
    )
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": round(seconds, 1), "peak_mb": round(peak, 1)}


def landing_size(site: Path) -> float:
    """Kilobytes of all that the landing page loads."""
    files = ("index.html", "site.css", "common.js", "tables.js", "models.js", "board.js", "data/board.js")
    return sum((site / name).stat().st_size for name in files) / 1000


def first_paint(site: Path) -> float | None:
    """Milliseconds to the leaderboard's first contentful paint, the median of five fresh browsers' pages."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        return None
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
            while not page.evaluate("performance.getEntriesByName('first-contentful-paint').length"):
                page.wait_for_timeout(10)
            paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            page.close()
        browser.close()
    return round(sorted(paints)[2], 1)


def make_results(place: Path, models: int, samples: int) -> int:
    """Write what `academiceval eval` and `judge` would have written; returns the bytes."""
    rng = random.Random(7)
    text = " ".join(rng.choices(WORDS, k=40_000))
    papers = [
        (f"26{1 + i % 10:02d}.{i:05d}v1", f"2026-{1 + i % 10:02d}-{1 + i % 28:02d}", f"Author {i % 150}")
        for i in range(samples)
    ]
    for m in range(models):
        folder = place / f"model-{m:02d}"
        folder.mkdir(parents=True)
        verdicts: dict[str, dict[str, object]] = {}
        texts: dict[str, dict[str, str]] = {}
        for setting in [*SETTINGS, *LEVELS]:
            name = setting if isinstance(setting, str) else setting.name
            task = "scalar" if isinstance(setting, str) else setting.task
            with (folder / f"samples_{name.lower()}_model-{m:02d}.jsonl").open("w", encoding="utf-8") as file:
                for i, paper in enumerate(papers):
                    row = sample(text, rng, name, task, m, i, paper)
                    file.write(json.dumps(row) + "\n")
                    if task != "scalar":
                        verdicts.setdefault(name, {})[paper[0]] = {"judge-a": [verdict(rng), verdict(rng)]}
                        answer, target = row["resps"][0][0], row["target"]  # type: ignore[index]
                        texts.setdefault(name, {})[paper[0]] = texts_hash(answer, str(target))
        write_results(folder, f"model-{m:02d}", f"2026-{1 + m % 6:02d}")
        (folder / f"judge_model-{m:02d}.json").write_text(
            json.dumps({"judged_model": f"model-{m:02d}", "round": "2026.11", "verdicts": verdicts, "texts": texts})
        )
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def verdict(rng: random.Random) -> dict[str, int]:
    """Who won in one order, dimension by dimension."""
    return {name: rng.choice((1, 2)) for name in (*DIMENSIONS, OVERALL)}


def sample(
    text: str, rng: random.Random, setting: str, task: str, m: int, i: int, paper: tuple[str, str, str]
) -> dict[str, object]:
    """One logged sample."""
    skill = 0.1 + 0.02 * m
    at = 997 * i % 100_000
    target = (
        str(i % 4)
        if task == "scalar"
        else " ".join(text[at : at + 9 * TARGET_WORDS[task]].split()[: TARGET_WORDS[task]])
    )
    if task == "scalar":
        scores = {
            "accuracy": float(rng.random() < 0.2 + skill),
            "accuracy_random": 0.25,
            "no_answer": 0.0,
            "truncated": 0.0,
        }
        answer = str(rng.randrange(4))
    else:
        base = min(1.0, max(0.0, rng.gauss(skill, 0.08)))
        scores = {
            "rouge_l_content": base,
            "rouge_l_content_wrong_paper": abs(rng.gauss(0.04, 0.01)),
            "rouge_l": base,
            "bertscore": min(1.0, base + 0.4),
            "rouge_l_wrong_paper": abs(rng.gauss(0.08, 0.02)),
            "bertscore_wrong_paper": min(1.0, abs(rng.gauss(0.48, 0.02))),
            "empty": 0.0,
            "truncated": float(m % 3 == 0),
            "length_ratio": 1.0,
        }
        answer = target[m:] + f" {m}"
    tokens = 1000 * (thousands_in(setting) or 30)
    doc = {
        "id": f"{paper[0]}#{i}" if task == "scalar" else paper[0],
        "paper_id": paper[0],
        "title": f"Paper {i} about {text[at : at + 40]}",
        "published": paper[1],
        "license": "http://creativecommons.org/licenses/by/4.0/",
        "licenses": ["http://creativecommons.org/licenses/by/4.0/"],
        "target": target,
        "round": "2026.11",
        "first_author": paper[2],
        "setting": setting,
        "prompt_name": "scalar" if task == "scalar" else f"{task}_short",
        "prompt_version": 1,
        "retriever": "",
        "tokens_before": tokens,
        "tokens_after": tokens - 100 * (m % 3),
        "cut_body": 100 * (m % 3),
        "slots": slots(text, setting, at, m % 3),
    }
    scored = json.dumps({"answer": answer, "scores": scores})
    return {
        "doc_id": i,
        "doc": doc,
        "target": target,
        "resps": [[answer]],
        "filtered_resps": [scored],
        "prompt_hash": hashlib.sha256(f"{setting}{i}".encode()).hexdigest(),
    }


def slots(text: str, setting: str, at: int, cut: int) -> list[dict[str, object]]:
    """A title, a body and, by the setting's name, demonstrations or candidates; each with the ends that are kept."""
    without = ("Title-10K", "Abs-9K", "Intro-8K", "Related-34K")
    shown = 4 if setting.startswith("SCALAR") or setting.endswith("-M") else 0 if setting in without else 2
    parts = [("demonstration", n, field) for n in range(shown) for field in ("content", "output")]
    parts += [("fixed", 0, "title"), ("body", 0, "content")]
    made = []
    for n, (part, index, field) in enumerate(parts):
        size = 60 if field == "title" else 40_000
        kept = size - (400 * cut if part == "body" else 0)
        head = text[(at + 31 * n) % 90_000 :][: min(kept, 2000)]
        tail = text[(at + 57 * n + cut) % 90_000 :][:2000] if kept > 4000 else ""
        made.append(
            {
                "part": part,
                "index": index,
                "field": field,
                "characters": size,
                "start": 0,
                "end": kept,
                "head": head,
                "tail": tail,
            }
        )
    return made


if __name__ == "__main__":
    main()
