"""The folder of a month and its repositories: what `academiceval live` needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.helpers.hub_server import Hub, hub_environment


@dataclass
class Place:
    """The folder of a month, and how commands are started in it."""

    path: Path
    environment: dict[str, str]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "builder.cli", "live", "live.toml", *arguments]
        return subprocess.Popen(
            command, cwd=self.path, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def live(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, errors = process.communicate()
        return process.returncode, out, errors

    def results(self) -> dict[str, Any]:
        """Of each file of results what does not depend on time."""
        found = {}
        for file in sorted((self.path / "results").rglob("*.json*")):
            if file.name.startswith("samples_"):
                found[file.name] = sorted(file.read_text().splitlines())
            elif file.name.startswith(("results_", "judge_")):
                content = json.loads(file.read_text())
                found[f"{file.parent.name}/{file.name}"] = (
                    content.get("academiceval", {}).get("scores") or content["tasks"]
                )
        return found


def make_place(path: Path, hub: Hub, texts: Mapping[str, str]) -> Place:
    """A folder with these files, and a model repository `org/own`.

    Args:
        texts: name -> text.
    """
    path.mkdir(parents=True)
    created = {"organization": "org", "name": "own"}
    requests.post(f"{hub.url}/api/repos/create", json=created, headers={"Authorization": "Bearer hf_write"}, timeout=60)
    hub.log.clear()
    for name, text in texts.items():
        (path / name).write_text(text)
    return Place(path, hub_environment(hub.url, path / "home"))
