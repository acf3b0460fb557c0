"""`academiceval eval` on a loopback server, from a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standins.openai_server import Reply, serve

Command = Callable[..., tuple[int, str, str]]
TITLE = "A Good Title"


def metadata(dataset: Path, **more: Any) -> str:
    return json.dumps({"dataset": str(dataset), "bertscore_model": "none", **more})


def run(
    command: Command,
    dataset: Path,
    output: Path,
    answer: Callable[[dict[str, Any]], Reply],
    *more: object,
    **options: Any,
) -> tuple[int, str, str]:
    """`academiceval eval` on a loopback server, with the options of `run_on`."""
    with serve(answer) as server:
        return run_on(server.url, command, dataset, output, *more, **options)


def run_on(
    url: str,
    command: Command,
    dataset: Path,
    output: Path,
    *more: object,
    tasks: str = "academiceval_title_10k",
    args: str = "",
    **options: Any,
) -> tuple[int, str, str]:
    return command(
        *"eval --model local-chat-completions --tasks".split(),
        tasks,
        "--apply_chat_template",
        "--output",
        output,
        "--model_args",
        f"model=ours,base_url={url}/chat/completions{args}",
        "--metadata",
        metadata(dataset, **options),
        *more,
    )


def results(output: Path) -> dict[str, Any]:
    [file] = output.glob("results_*.json")
    found: dict[str, Any] = json.loads(file.read_text())["academiceval"]
    return found


def scores(output: Path) -> dict[str, float]:
    return {one["metric"]: one["value"] for one in results(output)["scores"]}
