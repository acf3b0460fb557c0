"""`academiceval show`, and the short forms of what everybody types."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from builder.cli import all_commands
from lm_eval_tasks.base.command_line import options_metadata
from lm_eval_tasks.base.tables import text_lines
from lm_eval_tasks.evaluate.config_file import with_config
from lm_eval_tasks.stats.scores import score_table, scores_of
from standins.runs import evaluated
from tests.helpers.pages import ROOT
from tests.helpers.samples import sample
from tests.helpers.served import Command

TASKS = "academiceval_title_10k,academiceval_abs_9k"


@pytest.mark.slow
def test_a_run_is_shown_as_it_was_printed(command: Command, dataset: Path, tmp_path: Path) -> None:
    line = ("eval", "--model", "lead", "--tasks", TASKS, "--dataset", dataset, "--bertscore", "none")
    code, printed, err = command(*line, "--output", tmp_path / "run")
    assert (code, err) == (0, "")
    code, shown, err = command("show", tmp_path / "run")
    assert (code, err) == (0, "")
    assert printed.rpartition("\nwritten:")[0].strip() in shown
    facts = dict(line.strip("| ").split(" | ") for line in shown.split("\n\n")[0].splitlines())
    assert facts["Run"] == "lead"
    assert (facts["round"], facts["dataset"]) == ("2026.11", str(dataset))


@pytest.mark.slow
def test_results_alone_are_shown_and_odd_ones_named(command: Command, dataset: Path, tmp_path: Path) -> None:
    [file] = evaluated(command, dataset, tmp_path / "run").glob("results_*.json")
    content, alone = json.loads(file.read_text()), tmp_path / "alone.json"
    ours = content["academiceval"]
    for failures in ({"t": [1, 2]}, 5, {"t": {"rouge_l": "x"}}, {"t": [[], []]}):
        ours["failures"] = failures
        alone.write_text(json.dumps(content))
        code, shown, err = command("show", alone)
        assert (code, shown, err.count("\n")) == (1, "", 1), failures
        assert "failures" in err
    del ours["failures"]
    # What it cost, and what answered.
    ours["usage"] |= {"tokens_in": 12345, "cost": 1.5}
    assert ours["made_with"]["engine"] is None
    rope = {"full_attention": {"rope_type": "yarn", "factor": 4.0}, "sliding_attention": {"rope_type": "default"}}
    engine = {"name": "vllm", "version": "0.32.0", "dtype": "bfloat16", "kv_cache_dtype": "fp8", "quantization": None}
    ours["made_with"]["engine"] = {**engine, "rope": rope}
    alone.write_text(json.dumps(content))
    file.write_text(json.dumps(content))
    for given in (alone, file.parent):
        code, shown, err = command("show", given)
        assert (code, err, "academiceval_abs_9k" in shown) == (0, "", True)
        assert "| prompt tokens | 12,345 |" in shown
        assert "1.50 |" in shown
        assert "| engine | vllm 0.32.0, bfloat16, KV cache fp8, rope yarn 4.0 |" in shown


def test_a_folder_that_is_no_run_is_one_sentence(command: Command, tmp_path: Path) -> None:
    code, out, err = command("show", tmp_path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "no results_*.json" in err


def test_short_forms_stand_for_metadata() -> None:
    def metadata(*words: str) -> dict[str, object]:
        return options_metadata(all_commands().parse(["eval", "--tasks", "academiceval", *words]))

    assert metadata("--dataset", "D", "--bertscore", "none") == {"dataset": "D", "bertscore_model": "none"}
    assert metadata("--dataset", "D", "--metadata", "dataset=D,split=all") == {"dataset": "D", "split": "all"}
    # The option says what holds, wherever the metadata come from.
    assert metadata("--dataset", "D", "--metadata", '{"dataset": "E"}') == {"dataset": "D"}
    with pytest.raises(SystemExit):
        metadata("--dataset", "")


@pytest.mark.parametrize("content", ["metadata: {dataset: C, split: all}", "dataset: C\nmetadata: {split: all}"])
def test_what_is_typed_comes_before_a_files_options_however_either_is_written(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"tasks: [academiceval]\n{content}\nbertscore: minilm\n")

    def metadata(*words: str) -> dict[str, object]:
        line = ["eval", *words, "--config", str(tmp_path / "config.yaml")]
        return options_metadata(with_config(all_commands().parse(line)))

    of_file = {"dataset": "C", "split": "all", "bertscore_model": "minilm"}
    assert metadata() == of_file
    assert metadata("--dataset", "D", "--bertscore", "none") == {**of_file, "dataset": "D", "bertscore_model": "none"}
    assert metadata("--metadata", "dataset=D") == {"dataset": "D", "bertscore_model": "minilm"}


def test_help_shows_everyday_commands_and_names_the_others() -> None:
    commands = all_commands()
    everyday, _, more = commands.help().partition("\nmore:\n")
    explained = [line for line in everyday.splitlines() if line.startswith("  ")]
    assert len(explained) <= 16
    for name in commands.parsers:
        assert f"  {name.split()[-1]} " in everyday or name.split()[-1] in more, name
    assert len(commands.parsers) <= 20


@pytest.mark.parametrize(
    "content", [{}, {"results": {}, "configs": {}, "n-samples": {}}, {"results": {}, "model_name": "m"}]
)
def test_what_is_no_result_is_named(command: Command, tmp_path: Path, content: dict[str, object]) -> None:
    (tmp_path / "results_x.json").write_text(json.dumps(content))
    code, out, err = command("show", tmp_path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "is not a result" in err


def test_another_task_in_a_file_of_lm_eval_may_be_odd(command: Command, tmp_path: Path) -> None:
    ours = "academiceval_abs_9k"
    content = {
        "results": {ours: {"rouge_l,score": 0.25}, "theirs": [1]},
        "configs": {ours: {"metadata": {"dataset": "d"}}, "theirs": {"metadata": [{"version": 1.0}]}},
        "n-samples": {ours: {"original": 4, "effective": 2}, "theirs": None},
        "config": {"model": "hf", "model_args": "pretrained=m"},
    }
    (tmp_path / "results_x.json").write_text(json.dumps(content))
    code, out, err = command("show", tmp_path)
    assert (code, err) == (0, "")
    assert ours in out


def test_a_score_without_an_interval_says_why(command: Command) -> None:
    code, out, _ = command("show", ROOT / "docs" / "results" / "lab" / "SmolLM2-135M-Instruct" / "next_8k")
    assert code == 0
    assert re.search(
        r"^no interval \([^)]*first authors[^)]*\): share_right of academiceval_next_8k$", out, re.MULTILINE
    )


def test_a_setting_of_the_rounds_own_is_called_by_its_name() -> None:
    named = [sample(f"p{i}", f"Author {i}", {"rouge_l_content": i / 40}, setting="Title-One") for i in range(20)]
    task = "academiceval_title_10k"
    scores = scores_of({task: named}, "m")
    shown = [line for item in score_table(scores, (), {task: named}) for line in text_lines(item, "markdown")]
    assert f"| {task} (Title-One) | rouge_l_content |" in "\n".join(shown)
