"""The dataset card: what the Hub reads, and the canary."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import yaml

from lm_eval_tasks.base.manifest import canary
from lm_eval_tasks.families.writing.settings import SETTINGS


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


def test_every_file_has_the_canary(dataset: Path) -> None:
    files = sorted(dataset.rglob("*.parquet"))
    assert files
    assert {pq.read_schema(file).metadata[b"canary"].decode() for file in files} == {canary("2026.11")}
