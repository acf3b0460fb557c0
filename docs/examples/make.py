"""A prompt of each family, with its answer, over made-up papers.

  python docs/examples/make.py demo/academiceval                # those of `make demo`
  python docs/examples/make.py many/academiceval Match-128K     # of a round with `source.papers = 600`, `source.authors = 300`

Of prompts of a book's length, the middle is left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.cli import main

HERE = Path(__file__).parent
SETTINGS = ("Abs-9K", "SCALAR-Easy", "Walk-128K", "Next-128K", "Recall-Alone")
# Characters: of a prompt that is shown whole, and of each end of a longer one.
WHOLE, END = 20_000, 3_000


def example(dataset: Path, setting: str) -> str:
    """Return the first prompt of a setting, and the answer that is right."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "prompts.jsonl"
        if main(["export", str(dataset), "--setting", setting, "--output", str(file), "-q"]):
            raise SystemExit(1)
        row = json.loads(file.read_text(encoding="utf-8").partition("\n")[0])
    [message] = row["messages"]
    head = f"=== {setting}, prompt version {row['prompt_version']} ==="
    return f"{head}\n\n{shortened(message['content'])}\n\n=== The authors' text, or the right answer ===\n\n{row['target']}\n"


def shortened(prompt: str) -> str:
    """Leave out the middle of a long prompt."""
    if len(prompt) <= WHOLE:
        return prompt
    words = len(prompt[END:-END].split())
    return f"{prompt[:END]}\n\n[... {words:,} words are left out here ...]\n\n{prompt[-END:]}"


if __name__ == "__main__":
    for name in sys.argv[2:] or SETTINGS:
        (HERE / f"{name}.txt").write_text(example(Path(sys.argv[1]), name), encoding="utf-8")
