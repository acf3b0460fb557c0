"""The files of a first real round, as they lie in the docs: everything in them is checked as their commands check it."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.cli import all_commands
from builder.errors import RoundError
from builder.round.model import load_round
from lm_eval_tasks.base.command_line import options_metadata
from lm_eval_tasks.base.metadata import TEST, check
from lm_eval_tasks.compat.lm_eval import parse_args
from lm_eval_tasks.evaluate.config_file import with_config
from lm_eval_tasks.evaluate.generation import check_model
from lm_eval_tasks.families.registry import CORE
from lm_eval_tasks.llm.served_length import served_length
from lm_eval_tasks.tasks.catalogue import check_tasks
from tests.helpers.pages import ROOT

PLACE = ROOT / "docs" / "configs" / "first-round"


def test_the_round_has_all_that_the_core_asks(tmp_path: Path) -> None:
    with pytest.raises(RoundError, match="contact"):
        load_round(PLACE / "round.toml")
    text = (PLACE / "round.toml").read_text().replace("YOUR ADDRESS", "you@example.org")
    (tmp_path / "round.toml").write_text(text)
    round_ = load_round(tmp_path / "round.toml")
    names = {setting.name for setting in round_.chosen} | set(round_.scalar.levels) | set(round_.reading.configurations)
    names |= {configuration.name for configuration in round_.recall.chosen}
    # Every model of the round answers all that the boards count.
    assert names >= {entry.configuration for entry in CORE} - {"Walk-256K"}
    assert "Walk-256K" not in names
    assert round_.licenses == "redistributable"


def test_eight_models_are_asked_the_core_in_their_whole_context() -> None:
    files = sorted(PLACE.glob("*.yaml"))
    assert len(files) == 8
    reasoning = 0
    for file in files:
        options = with_config(all_commands().parse(["eval", "--config", str(file)]))
        metadata = options_metadata(options)
        check_model(options.model)
        check_tasks(options.tasks.split(","))
        check(metadata)
        # A board counts all test papers.
        assert (options.limit, options.samples, metadata.get("split", TEST)) == (None, None, TEST), file
        arguments = parse_args(options.model_args)
        assert served_length(arguments["pretrained"], arguments, None).tokens == 131_072, file
        reasoning += "reasoning_tokens" in metadata
    assert reasoning == 2
