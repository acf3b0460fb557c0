"""The files of a first real round, as they lie in the docs: everything in them is checked as their commands check it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hub_scripts.live.config import load_live

from builder.errors import RoundError
from builder.round.model import load_round
from lm_eval_tasks.compat.lm_eval import parse_args
from lm_eval_tasks.llm.served_length import served_length
from lm_eval_tasks.tasks.records import CORE
from tests.helpers.pages import ROOT

PLACE = ROOT / "docs" / "configs" / "first-round"


def test_the_round_has_all_that_the_core_asks(tmp_path: Path) -> None:
    with pytest.raises(RoundError, match="contact"):
        load_round(PLACE / "round.toml")
    text = (PLACE / "round.toml").read_text().replace("YOUR ADDRESS", "you@example.org")
    (tmp_path / "round.toml").write_text(text)
    round_ = load_round(tmp_path / "round.toml")
    names = {setting.name for setting in round_.chosen} | set(round_.scalar.levels) | set(round_.reading.configurations)
    # Every model of the round answers all that the boards count.
    assert names >= {entry.configuration for entry in CORE} - {"Walk-256K"}
    assert "Walk-256K" not in names
    assert round_.licenses == "redistributable"


def test_eight_models_are_asked_the_core_in_their_whole_context() -> None:
    live, models = load_live(PLACE / "live.toml")
    assert len(models) == len(list(PLACE.glob("*.yaml"))) == 8
    assert live.repo is None
    for name, model in models.items():
        arguments = parse_args(model.options["model_args"])
        served = served_length(arguments["pretrained"], arguments, None)
        assert served.tokens == 131_072, name
    assert sum("reasoning_tokens" in model.options.get("metadata", {}) for model in models.values()) == 2
