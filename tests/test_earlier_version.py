"""What commit 41e9705 wrote opens here: a round, its workspace, and the results of two baselines, over a made-up mirror."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hub_scripts.hub.checks import check_files

Command = Callable[..., tuple[int, str, str]]
_WRITTEN = Path(__file__).parent / "helpers" / "round-41e9705.tar.xz"


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, in which the commands then run."""
    with tarfile.open(_WRITTEN) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(dataset: Path) -> dict[str, object]:
    """Configuration and split -> what its file says, row by row."""
    files = dataset.rglob("*.parquet")
    return {f"{file.parent.name} {file.name.partition('-')[0]}": pq.read_table(file).to_pylist() for file in files}


def test_results_are_shown_compared_and_reported(earlier: Path, command: Command) -> None:
    code, shown, _ = command("show", "results/lead")
    assert code == 0
    assert "| academiceval_title_10k | rouge_l_content | 0.1470 [0.0203, 0.2737] | 12 |" in shown
    assert "names_supported" not in command("show", "results/lead", "--all-columns")[1]
    code, compared, _ = command("compare", "results/lead", "results/random-sentence")
    assert code == 0
    assert "| SCALAR-Easy | accuracy | 9 | 0.2222 | 0.1111 | -0.1111 |" in compared
    assert command("report", "results", "academiceval", "--output", "site")[0] == 0
    assert "random-sentence" in (earlier / "site" / "index.html").read_text(encoding="utf-8")


def test_an_evaluation_goes_on_and_scores_as_before(earlier: Path, command: Command) -> None:
    before = json.loads((earlier / "results/lead/results_lead.json").read_text(encoding="utf-8"))["results"]
    tasks = "academiceval_title_10k,scalar_easy"
    arguments = "--model", "lead", "--tasks", tasks, "--bertscore", "none", "--output", "results/lead"
    assert command("eval", *arguments)[0] == 0
    after = json.loads((earlier / "results/lead/results_lead.json").read_text(encoding="utf-8"))["results"]
    for task, metric in (("academiceval_title_10k", "rouge_l_content,score"), ("scalar_easy", "accuracy,score")):
        assert after[task][metric] == before[task][metric]


def test_a_round_and_its_workspace_give_the_same_rows(earlier: Path, command: Command) -> None:
    assert "papers read: 20" in command("status", "round.toml")[1]
    before = rows(earlier / "academiceval")
    assert len(before) == 7
    # The files of that release have no canary in them.
    code, _, errors = command("run", "round.toml", "--replace")
    assert code == 0, errors
    assert rows(earlier / "academiceval") == before


def test_a_round_is_pushed_without_what_is_gone(earlier: Path, command: Command) -> None:
    assert (earlier / "academiceval" / "croissant.json").is_file()
    code, out, errors = command("push", "academiceval", "--repo", "ORG/academiceval")
    assert code == 0, errors
    assert "HF_HUB_OFFLINE" in out
    assert list(earlier.glob("academiceval-publishable/README.md"))
    assert not list(earlier.glob("academiceval-publishable/**/croissant.json"))


@pytest.mark.parametrize(
    ("table", "key"),
    [("[core]\nsamples = 5\n", "core"), ('[samples]\nceiling_bertscore = "none"\n', "samples.ceiling_bertscore")],
)
def test_a_key_that_is_gone_gets_a_sentence(earlier: Path, command: Command, table: str, key: str) -> None:
    with (earlier / "round.toml").open("a", encoding="utf-8") as file:
        file.write(table)
    code, _, errors = command("run", "round.toml")
    assert code == 1
    assert key in errors
    assert len(errors.strip().splitlines()) == 1


def test_configurations_that_are_gone_are_passed_over(earlier: Path, command: Command) -> None:
    folder = earlier / "academiceval"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    [title] = [entry for entry in manifest["configurations"] if entry["name"] == "Title-10K"]
    carried = json.loads(json.dumps(title).replace("Title-10K/", "Title-10K-core/"))
    shutil.copytree(folder / "Title-10K", folder / "Title-10K-core")
    manifest["configurations"].append({**carried, "name": "Title-10K-core", "form": "core", "of": "Title-10K"})
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert len(check_files(folder).gone_files) == 3
    assert command("eval", "--model", "lead", "--tasks", "academiceval_title_10k", "--bertscore", "none")[0] == 0
    code, _, errors = command("push", "academiceval", "--repo", "ORG/academiceval", "--licenses", "all")
    assert (code, "does not know, such as Title-10K-core" in errors) == (1, True)


@pytest.mark.parametrize("part", [{}, {"splits": []}, {"splits": {"test": {"files": [{}]}}}, {"name": []}])
def test_a_configuration_that_is_gone_and_odd_is_one_sentence(
    part: dict[str, object], earlier: Path, command: Command
) -> None:
    manifest = json.loads((earlier / "academiceval" / "manifest.json").read_text(encoding="utf-8"))
    manifest["configurations"].append({"name": "Title-10K-core", "form": "core", "task": "title", **part})
    (earlier / "academiceval" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    code, _, errors = command("push", "academiceval", "--repo", "ORG/academiceval")
    assert (code, errors.count("\n")) == (1, 1), errors
    assert "manifest.json" in errors
