"""`academiceval bundle`: a round, models, tokenizers and wheels in one folder, with hashes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder.dataset.folder import replacing
from builder.dataset.manifest import read_manifest
from hub_scripts.errors import CheckError, HubError
from hub_scripts.hub import checks
from hub_scripts.hub.repo import Repo
from lm_eval_tasks.bundle import BUNDLE, DATASET, HUB, WHEELS, open_bundle, write_bundle
from lm_eval_tasks.compat.huggingface_hub import is_offline
from lm_eval_tasks.compat.minilm import MINILM
from lm_eval_tasks.core.version import VERSION
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL, NO_MODEL

_OF_TOKENIZERS = ("*token*", "*.model", "vocab*", "merges.txt", "config.json", "*.jinja", "README.md")


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a bundle besides the round.

    Attributes:
        models, tokenizers: Hub ids, optionally followed by "@" and a revision; for tokenizers no weights are fetched.
        bertscore: as in `--metadata`.
        wheels: what pip should download, e.g. "academiceval[offline]==0.1.0".
        constraints: a file of versions for pip.
    """

    models: Sequence[str] = ()
    tokenizers: Sequence[str] = ()
    bertscore: str = DEFAULT_MODEL
    wheels: Sequence[str] = ()
    constraints: Path | None = None


def bundle(dataset: Path, output: Path, contents: Contents) -> Iterator[str]:
    """Make a bundle; it appears once it is complete. Yields lines to show.

    Raises:
        BuildError: the dataset is not a whole folder, or `output` contains something else.
        HubError: a model cannot be fetched, or pip failed.
    """
    if (dataset / BUNDLE).is_file():
        raise CheckError(f"{dataset} is a bundle; add --check to check it, or name the dataset folder to bundle")
    if (output / BUNDLE).is_file():
        open_bundle(output)  # nothing else is replaced
    if output.resolve().is_relative_to(dataset.resolve()):
        raise CheckError(f"--output {output} lies in the dataset folder; name a folder outside it")
    checks.check_files(dataset)
    metric = () if contents.bertscore in (MINILM, NO_MODEL) else (contents.bertscore,)
    if is_offline() and (contents.models or contents.tokenizers or metric):
        names = ", ".join((*contents.models, *contents.tokenizers, *metric))
        raise HubError(
            f"HF_HUB_OFFLINE is set, so {names} cannot be fetched; unset it, or leave the BERTScore model out with "
            "--bertscore_model minilm"
        )
    with replacing(output, BUNDLE, "bundle") as place:
        shutil.copytree(dataset, place / DATASET)
        yield f"round {read_manifest(dataset).round}"
        for name in (*contents.models, *metric):
            yield f"model {_fetched(name, place / HUB)}"
        for name in contents.tokenizers:
            yield f"tokenizer {_fetched(name, place / HUB, _OF_TOKENIZERS)}"
        if contents.wheels:
            yield f"wheels: {_download(contents, place / WHEELS)}"
        holds = {
            "round": read_manifest(dataset).round, "academiceval": VERSION, "models": [*contents.models, *metric],
            "tokenizers": list(contents.tokenizers), "bertscore_model": contents.bertscore, "wheels": list(contents.wheels),
        }  # fmt: skip
        made = write_bundle(place, holds)
    size = sum(size for size, _ in made.files.values())
    yield f"written: {output} ({len(made.files)} files, {size / 1e6:.1f} MB); there: academiceval eval --bundle {output.name} ..."


def check_bundle(folder: Path) -> Iterator[str]:
    """Compare every file with its hash; yields a line to show.

    Raises:
        OptionError: the folder is not a bundle.
        CheckError: files differ.
    """
    known = open_bundle(folder)
    if found := list(known.problems()):
        raise CheckError(f"the bundle {folder}: {found[0]}" + (f", and {len(found) - 1} more" if found[1:] else ""))
    yield f"checked: {folder}, {len(known.files)} files"


def _fetched(name: str, cache: Path, patterns: Sequence[str] = ()) -> str:
    model, _, revision = name.partition("@")
    place = Repo(model, "model").snapshot(revision or "main", cache, patterns)
    return f"{model} at {place.name}"


def _download(contents: Contents, place: Path) -> str:
    constraints = ["-c", str(contents.constraints)] if contents.constraints else []
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "-d", str(place)]
    done = subprocess.run([*command, *constraints, *contents.wheels], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise HubError(
            f"pip could not download {', '.join(contents.wheels)}: {(lines or ['no reason given'])[-1]:.300}"
        )
    return f"{sum(1 for _ in place.iterdir())} files"
