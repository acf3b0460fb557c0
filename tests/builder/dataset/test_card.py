"""The dataset card: what the Hub reads, and the canary."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from lm_eval_tasks.base.manifest import canary
from lm_eval_tasks.families.writing.settings import SETTINGS
from tests.helpers.served import Command


def test_the_card_has_what_the_hub_reads(dataset: Path) -> None:
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(dataset / "README.md")
    assert card.data.license == "other"
    front = yaml.safe_load((dataset / "README.md").read_text().split("---")[1])
    assert front["license_name"] == "arxiv-per-paper"
    assert front["license_link"].startswith("https://")
    assert front["size_categories"]
    assert front["source_datasets"] == ["original"]
    assert front["task_categories"][0] == "text-generation"
    assert {"arxiv:2510.17725", "arxiv:2502.13753"} <= set(front["tags"])
    assert [one["config_name"] for one in front["configs"]] == [setting.name for setting in SETTINGS]
    assert [one.get("default") for one in front["configs"]].count(True) == 1
    assert len(front["dataset_info"]) == 16
    assert canary("2026.11") in card.text
    assert canary("2026.11") != canary("2026.12")
    assert "eval.yaml" not in card.text
    for shown in ("## Limitations", "## Takedowns", "## How to cite", "| Title-10K | Title |", "| extract |"):
        assert shown in card.text


@pytest.mark.slow
def test_an_audit_finds_the_canary_or_says_that_it_is_gone(dataset: Path, tmp_path: Path, command: Command) -> None:
    place = tmp_path / "academiceval"
    shutil.copytree(dataset, place)
    file = tmp_path / "round.toml"
    file.write_text('round = "2026.11"\noutput = "academiceval"\n[source]\nkind = "sample"\n')
    assert command("run", file, "--only", "audit")[0] == 0
    text = (place / "README.md").read_text()
    (place / "README.md").write_text(text.replace(canary("2026.11"), ""))
    code, _, errors = command("run", file, "--only", "audit")
    assert (code, "lacks the canary of round 2026.11" in errors) == (1, True)


def test_every_file_has_the_canary(dataset: Path) -> None:
    files = sorted(dataset.rglob("*.parquet"))
    assert files
    assert {pq.read_schema(file).metadata[b"canary"].decode() for file in files} == {canary("2026.11")}
