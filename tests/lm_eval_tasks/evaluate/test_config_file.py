"""Options from a YAML file: read as the command line reads them, and overridden by what is typed."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from builder.cli import all_commands
from lm_eval_tasks.base.command_line import metadata_of, options_metadata
from lm_eval_tasks.base.errors import EvalError, OptionError
from lm_eval_tasks.base.metadata import values
from lm_eval_tasks.compat.lm_eval import parse_args
from lm_eval_tasks.evaluate.config_file import with_config
from lm_eval_tasks.evaluate.identity import label_of
from standins.places import table_beside


def read(tmp_path: Path, content: dict[str, Any], *typed: str) -> Namespace:
    """What the command line and a file give together."""
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(content))
    return with_config(all_commands().parse(["eval", *typed, "--config", str(file)]))


def test_what_is_typed_wins_even_if_it_is_the_default(tmp_path: Path) -> None:
    content = {"batch_size": "8", "repeats": 5, "engine": "ray", "output_path": "elsewhere", "model": "lead"}
    both = read(tmp_path, content, "--batch_size", "1", "--repeats", "1", "--engine", "local")
    assert (both.batch_size, both.repeats, both.engine) == ("1", 1, "local")
    assert (both.output, both.model) == (Path("elsewhere"), "lead")
    # A program is called by its own name, whatever model the file is for.
    assert label_of("lead", {"pretrained": "/models/My-8B/"}) == "lead"
    assert label_of("hf", {"pretrained": "/models/My-8B/"}) == "My-8B"


def test_tables_stay_nested(tmp_path: Path) -> None:
    overrides = {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}, "max_position_embeddings": 131072}
    both = read(tmp_path, {"model_args": {"pretrained": "ORG/MODEL", "hf_overrides": overrides}})
    assert parse_args(both.model_args) == {"pretrained": "ORG/MODEL", "hf_overrides": overrides}
    assert parse_args('{"a": {"b": [1, 2]}}') == {"a": {"b": [1, 2]}}
    # As part of key=value too, with commas of its own.
    typed = f"pretrained=ORG/MODEL,hf_overrides={json.dumps(overrides)},max_model_len=131072"
    assert parse_args(typed) == {"pretrained": "ORG/MODEL", "hf_overrides": overrides, "max_model_len": 131072}
    with pytest.raises(OptionError, match="is not a JSON object"):
        parse_args('{"a": ')


def test_lists_switches_and_nothing(tmp_path: Path) -> None:
    content = {
        "tasks": ["academiceval", "scalar"],
        "apply_chat_template": True,
        "limit": None,
        "seed": 7,
        "max-cost": 2,
        "metadata": {"published_after": date(2026, 1, 1)},
    }
    both = read(tmp_path, content)
    assert (both.max_cost, json.loads(both.metadata)) == (2.0, {"published_after": "2026-01-01"})
    assert not read(tmp_path, {"apply_chat_template": None}).apply_chat_template
    assert (both.tasks, both.apply_chat_template) == ("academiceval,scalar", True)
    assert (both.limit, both.seed) == (None, "7")
    assert read(tmp_path, {}, "--apply_chat_template").apply_chat_template
    assert not read(tmp_path, content, "--no-apply_chat_template").apply_chat_template


@pytest.mark.parametrize(("content", "says"), table_beside(__file__, "typed_values.json"))
def test_values_are_checked_as_if_they_were_typed(tmp_path: Path, content: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(tmp_path, content)
    assert says in str(caught.value)
    assert str(tmp_path / "run.yaml") in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model: &a lead\ntasks: *a\n", "has aliases"),
        ("model: lead\ntasks: a\nmodel: copy-demo\n", "the key 'model' comes twice"),
    ],
)
def test_what_yaml_allows_and_options_do_not_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(OptionError, match=says):
        with_config(all_commands().parse(["eval", "--config", str(file)]))


@pytest.mark.parametrize("value", [True, 1, "yes", "True", "on"])
def test_yes_and_no_are_read_alike_everywhere(value: object, tmp_path: Path) -> None:
    for content in ({"fits_only": value}, {"fits-only": value}, {"metadata": {"fits_only": value}}):
        assert options_metadata(read(tmp_path, content)) == {"fits_only": True}
        assert options_metadata(read(tmp_path, content, "--no-fits-only")) == {"fits_only": False}
    assert values(options_metadata(read(tmp_path, {}, "--metadata", f"fits_only={value}")))["fits_only"] is True
    for content in ({"fits_only": "perhaps"}, {"metadata": {"fits_only": 2}}):
        with pytest.raises(OptionError, match="neither true nor false"):
            options_metadata(read(tmp_path, content))


def test_metadata_is_json_or_pairs() -> None:
    assert metadata_of('{"bertscore_model": "none", "shard": "1/2"}') == metadata_of("bertscore_model=none,shard=1/2")
    assert metadata_of("{}") == {}
    # YAML and lm-eval read October's round as a number.
    assert [values({"round": given})["round"] for given in (2026.1, 2026.11, "2026.10")] == [
        "2026.10",
        "2026.11",
        "2026.10",
    ]
    for text in ("", "hello", "[1]", "=x", "a=b,c"):
        with pytest.raises(EvalError, match="--metadata"):
            metadata_of(text)
