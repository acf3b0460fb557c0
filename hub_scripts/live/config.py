"""live.toml and models.toml: what a month consists of, checked before any work begins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from builder.round.table import Table
from builder.round.toml_file import read_toml, text_like
from hub_scripts.errors import LiveError
from lm_eval_tasks.commands import read_config
from lm_eval_tasks.core.command_line import REPOSITORY, options_metadata
from lm_eval_tasks.core.errors import EvalError, OptionError, TomlError
from lm_eval_tasks.core.metadata import TEST, check
from lm_eval_tasks.evaluate.generation import Generation, check_model
from lm_eval_tasks.tasks.folder import check_tasks

# Usable as a folder name, and in the name of a judge's file.
MODELS = "models.toml"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# What else is in the folder of a round's results.
_TAKEN = frozenset({"judged", "live.json", "live.md"})


_Repository = Annotated[str, text_like(REPOSITORY, "ORG/NAME")]


class JudgeTable(Table):
    """A judge of the models' texts."""

    model: str = Field(pattern=r"^[^-\s].*$", description="as its server calls it")
    base_url: str | None = Field(None, description="an OpenAI-compatible server; left out: the OpenAI API")
    evidence: int | None = Field(None, ge=1, description="passages of the paper to show for each sentence")
    prices: Path | None = Field(None, description="a price table; its answers then count towards max_cost")


class ModelTable(Table):
    """A model that every round is run on."""

    config: Path = Field(description="options of `academiceval eval`, as YAML")
    card: _Repository | None = Field(None, description="the model repository whose card shows the scores")
    options: dict[str, Any] = Field({}, exclude=True, description="what `config` contains; not for models.toml")


class Live(Table):
    """live.toml. Paths are relative to it."""

    round: Path = Path("round.toml")
    models: Path = Path(MODELS)
    repo: _Repository | None = Field(None, description="the dataset repository; left out: nothing is pushed")
    results_repo: _Repository | None = Field(None, description="the dataset repository of results")
    space: _Repository | None = Field(None, description="the Space that shows the results page")
    results: Path = Field(Path("results"), description="a folder for each round, in it one for each model")
    max_cost: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="the most that a round's models and judge may cost together",
    )
    judge: JudgeTable | None = None


_LIVE_FILE, _MODELS_FILE = TypeAdapter(Live), TypeAdapter(dict[str, ModelTable])


def load_live(path: Path) -> tuple[Live, dict[str, ModelTable]]:
    """The month's settings and its models, by name.

    Raises:
        LiveError: a file is missing, cannot be parsed, or has a key, a value, a name or a model's options that cannot be used.
    """
    try:
        live = read_toml(path, _LIVE_FILE)
        models = read_toml(path.parent / live.models, _MODELS_FILE)
    except TomlError as err:
        hint = "" if path.is_file() else "; `academiceval live --help` says what a month needs"
        raise LiveError(f"{err}{hint}") from err
    place = path.parent / live.models
    for name, model in models.items():
        if not _NAME.fullmatch(name) or name.casefold() in _TAKEN:
            raise LiveError(f"{place}: the name {name!r:.80} must be fit for a folder: only A to Z, digits and . _ -")
        if any(other != name and other.casefold() == name.casefold() for other in models):
            raise LiveError(f"{place}: {name} and a model whose name differs only in capitals would share a folder")
        if model.options:
            raise LiveError(f"{place}: {name}: options belong in the file that `config` names")
        if model.card and not live.results_repo:
            raise LiveError(f"{place}: {name} has a card, so {path} must name a results_repo")
    if live.judge and live.judge.prices and not (path.parent / live.judge.prices).is_file():
        raise LiveError(f"{path}: the judge's prices, {path.parent / live.judge.prices}, are not there")
    models = {name: _with_options(model, path.parent, name) for name, model in models.items()}
    for name, model in models.items():
        if live.results_repo and (part := _part(model.options)):
            raise LiveError(
                f"{name}: {path.parent / model.config} has `{part}`, but published scores are those of all test papers"
            )
    return live, models


def _part(options: Mapping[str, Any]) -> str:
    """The option by which not all test papers are asked about; "" without one."""
    split = (options.get("metadata") or {}).get("split") or TEST
    return next((key for key in ("limit", "samples") if options.get(key)), "" if split == TEST else "split")


def _with_options(model: ModelTable, place: Path, name: str) -> ModelTable:
    try:
        typed = read_config(place / model.config)
        metadata = options_metadata(typed)
        check(metadata)
        check_model(typed.model)
        Generation(gen_kwargs=typed.gen_kwargs, seed=typed.seed)
        if not typed.tasks:
            raise OptionError(f"{place / model.config} lacks `tasks`, as of `academiceval eval --tasks`")
        check_tasks(typed.tasks.split(","), f"`tasks` of {place / model.config}")
    except EvalError as err:
        raise LiveError(f"{name}: {err}") from err
    others = {key: getattr(typed, key) for key in ("limit", "samples", "prices", "model", "model_args")}
    options = {"metadata": metadata, **{key: str(value) for key, value in others.items() if value is not None}}
    return model.model_copy(update={"options": options})
