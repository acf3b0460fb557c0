"""`croissant.json` is valid for those who read it, and loads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from builder.dataset.croissant import CROISSANT, croissant
from datasets import load_dataset

from builder.dataset.card import canary
from builder.dataset.manifest import read_manifest
from tests.faults.cases import questions

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.slow
def test_croissant_is_valid_and_loads(dataset: Path, tmp_path: Path, command: Command) -> None:
    import mlcroissant

    (tmp_path / "questions").mkdir()
    for number, question in enumerate(questions()):
        (tmp_path / "questions" / f"{number}.json").write_text(json.dumps(question))
    assert command("import", "scalar", tmp_path / "questions", "-o", tmp_path / "scalar")[0] == 0
    for folder, nested in (
        (dataset, {"Abs-9K": None, "Title-31K-G": "demonstrations", "Related-34K": "citations"}),
        (tmp_path / "scalar", {"SCALAR-Easy": "candidates"}),
    ):
        made = mlcroissant.Dataset(jsonld=str(folder / CROISSANT))
        assert not made.metadata.ctx.issues.errors
        assert not made.metadata.ctx.issues.warnings
        for setting, column in nested.items():
            name = f"{setting}/test"
            rows = load_dataset(str(folder), setting, split="test")
            record = next(iter(made.records(name)))
            assert set(record) == {f"{name}/{column}" for column in rows.column_names}
            assert _plain(record, f"{name}/") == rows[0]
            assert not column or rows[0][column]


def _plain(value: Any, prefix: str) -> Any:
    """A record as `datasets` gives it: bytes as text, and fields without the names of those that they are in."""
    if isinstance(value, dict):
        return {name.removeprefix(prefix).rpartition("/")[2]: _plain(one, prefix) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, prefix) for one in value]
    return value.decode() if isinstance(value, bytes) else value


def test_croissant_names_every_file_and_the_fields_for_responsible_use(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    content = json.loads((dataset / CROISSANT).read_text())
    assert (dataset / CROISSANT).read_text() == croissant(manifest)
    assert {one["contentUrl"]: one["sha256"] for one in content["distribution"]} == {
        path: file.sha256 for path, file in manifest.files.items()
    }
    for name in ("dataCollection", "dataLimitations", "dataBiases", "dataUseCases", "dataReleaseMaintenancePlan"):
        assert content[f"rai:{name}"]
    there = json.loads(croissant(manifest, "https://hub/datasets/org/name/resolve/2026.11/"))
    assert there["url"] == "https://hub/datasets/org/name"
    assert there["distribution"][0]["contentUrl"].startswith("https://hub/datasets/org/name/resolve/2026.11/")


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
    assert [one.get("default") for one in front["configs"]].count(True) == 1
    assert canary("2026.11") in card.text
    assert canary("2026.11") != canary("2026.12")
    for heading in ("## Limitations", "## Takedowns", "## How to cite"):
        assert heading in card.text


@pytest.mark.slow
def test_an_audit_finds_the_canary_or_says_that_it_is_gone(dataset: Path, tmp_path: Path, command: Command) -> None:
    place = tmp_path / "academiceval"
    shutil.copytree(dataset, place)
    assert command("audit", place)[0] == 0
    text = (place / "README.md").read_text()
    (place / "README.md").write_text(text.replace(canary("2026.11"), ""))
    code, _, errors = command("audit", place)
    assert (code, "lacks the canary of round 2026.11" in errors) == (1, True)
