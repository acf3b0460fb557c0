"""All that an evaluation reads, in one folder: made from a Hub on this machine, used without one."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from lm_eval_tasks.bundle import open_bundle
from tests.conftest import BIN, make_llama
from tests.helpers.hub_server import Hub

pytestmark = pytest.mark.slow

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A package that needs nothing."""
    path = tmp_path / "nothing-1.0-py3-none-any.whl"
    info = "nothing-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def bundle(hub: Hub, dataset: Path, tmp_path: Path, wheel: Path, command: Command) -> Path:
    make_llama(tmp_path / "llama")
    HfApi().create_repo("org/tiny")
    HfApi().upload_folder(repo_id="org/tiny", folder_path=tmp_path / "llama")
    code, out, errors = command(
        "bundle", dataset, "-o", tmp_path / "bundle", "--model", "org/tiny", "--bertscore_model", "none",
        "--wheels", wheel,
    )  # fmt: skip
    assert code == 0, errors
    assert "wheels: 1 files" in out
    return tmp_path / "bundle"


def _eval(bundle: Path, place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        BIN / "academiceval", "eval", "--bundle", bundle, "--tasks", "academiceval_title_10k", "--limit", "2",
        "--output", place / "out", *options,
    ]  # fmt: skip
    # A machine that has nothing, and a Hub that is not there.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HOME": str(place), "HF_ENDPOINT": "http://127.0.0.1:9"}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def test_a_model_of_the_hub_is_evaluated_without_it(bundle: Path, hub: Hub, tmp_path: Path) -> None:
    asked = len(hub.log)
    done = _eval(
        bundle, tmp_path, "--model", "hf", "--model_args", "pretrained=org/tiny", "--gen_kwargs", "max_gen_toks=4"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    run = json.loads(next((tmp_path / "out").glob("results_*.json")).read_text())["academiceval"]["run"]
    assert run["model_args"] == {"pretrained": "org/tiny"}
    assert len(hub.log) == asked


def test_a_bundle_is_checked(bundle: Path, tmp_path: Path, command: Command) -> None:
    assert command("bundle", bundle, "--check")[0] == 0
    known = open_bundle(bundle)
    name = next(name for name in known.files if name.endswith(".parquet"))
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[:-1] + b"?")
    code, _, errors = command("bundle", bundle, "--check")
    assert (code, f"{name} has changed since the bundle was made" in errors) == (1, True)
    (bundle / name).write_bytes(content[:-1])
    code, _, errors = command("eval", "--bundle", bundle, "--model", "lead", "--tasks", "academiceval_title_10k")
    assert (code, "is not whole" in errors, name in errors) == (1, True, True)
    (bundle / "bundle.json").write_text("[]")
    code, _, errors = command("eval", "--bundle", bundle, "--model", "lead", "--tasks", "academiceval_title_10k")
    assert (code, "is not the list of a bundle" in errors) == (1, True)


def test_what_cannot_be_bundled(hub: Hub, dataset: Path, tmp_path: Path, command: Command) -> None:
    cases = {
        ("--model", "org/gone", "--bertscore_model", "none"): "org/gone does not exist",
        ("--bertscore_model", "none", "--wheels", str(tmp_path / "gone.whl")): "pip could not download",
    }
    for options, says in cases.items():
        code, _, errors = command("bundle", dataset, "-o", tmp_path / "bundle", *options)
        assert (code, says in errors) == (1, True), errors
        assert not (tmp_path / "bundle").exists()
    code, _, errors = command("eval", "--bundle", tmp_path, "--model", "lead", "--tasks", "academiceval_title_10k")
    assert (code, "is not a bundle" in errors) == (1, True)
