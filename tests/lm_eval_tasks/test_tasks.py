"""The task files and what real lm-eval makes of them."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lm_eval_tasks import families
from lm_eval_tasks.base.errors import EvalError, OptionError
from lm_eval_tasks.base.tables import text_lines
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.families.scalar import ALL_LEVELS, LEVELS
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.settings import SETTINGS, prompt_name_of
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.stats.scores import score_table
from lm_eval_tasks.tasks import catalogue as task_folder
from lm_eval_tasks.tasks.catalogue import GROUPS, TASKS, task_names
from standins.llama import CONTEXT
from standins.places import BIN
from tests.helpers.evaluating import evaluate
from tests.helpers.linked_tasks import linked_tasks
from tests.helpers.served import metadata
from tests.helpers.warm import Warm

FOLDER = task_folder.tasks_path()
FILES = sorted(FOLDER.rglob("*.yaml"))


class Loader(yaml.SafeLoader):
    """Reads !function as its text."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@functools.cache
def config(path: Path) -> dict[str, Any]:
    with path.open() as file:
        read = yaml.load(file, Loader)
    base = config(path.parent / read["include"]) if "include" in read else {}
    return {**base, **read}


def test_every_yaml_file_is_an_indexed_task() -> None:
    named = {
        config(path).get("task") if isinstance(config(path).get("task"), str) else config(path)["group"]
        for path in FILES
    }
    tags = {f"academiceval_{kind}" for kind in ("plain", "random", "graph", "mixed")}
    assert {config(path)["tag"] for path in FILES if "tag" in config(path)} == tags
    assert named | tags == set(task_names())
    assert len(FILES) == len(TASKS) + len(GROUPS)


def test_tables_call_each_task_by_its_setting() -> None:
    aliases = [config(path)["task_alias"] for path in FILES if isinstance(config(path).get("task"), str)]
    assert len(set(aliases)) == len(aliases)
    assert {setting.name for setting in SETTINGS} <= set(aliases)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
@pytest.mark.slow
def test_every_setting_has_its_task(setting: Any) -> None:
    name = "academiceval_" + setting.name.lower().replace("-", "_")
    read = next(config(path) for path in FILES if config(path).get("task") == name)
    ralm = next(config(path) for path in FILES if config(path).get("task") == name.replace("_", "_ralm_", 1))
    demonstrations = setting.random + setting.co_author > 0
    tokens = {"title": 64, "abs": 512, "intro": 2048, "related": 2048}[setting.task]
    assert prompt_name_of(setting.name) == f"{setting.task}_{'long' if demonstrations else 'short'}"
    assert read["dataset_kwargs"] == {"setting": setting.name, "answer_tokens": tokens}
    assert ralm["dataset_kwargs"] == {"setting": setting.name, "answer_tokens": tokens, "shown": "retrieved"}
    assert ralm["generation_kwargs"] == read["generation_kwargs"]
    assert read["generation_kwargs"] == {"do_sample": False, "temperature": 0.0, "max_gen_toks": tokens, "until": []}
    assert int(read["metadata"]["version"]) == families.of_task("abs").version


def test_groups_hold_their_tasks() -> None:
    groups = {config(path)["group"]: config(path)["task"] for path in FILES if "group" in config(path)}
    for top in ("academiceval", "academiceval_ralm"):
        members = [f"{top}_{task}" for task in ("title", "abs", "intro", "related")]
        assert groups[top] == members
        assert sorted(name for group in members for name in groups[group]) == sorted(
            f"{top}_" + setting.name.lower().replace("-", "_") for setting in SETTINGS
        )


@pytest.mark.slow
def test_every_level_has_its_task() -> None:
    groups = {config(path)["group"]: config(path)["task"] for path in FILES if "group" in config(path)}
    names = {level.name: level.name.lower().replace("-", "_") for level in ALL_LEVELS}
    assert set(groups["scalar_ablation"]) == set(names.values())
    assert groups["scalar"] == [names[level.name] for level in LEVELS]
    for level, name in names.items():
        read = next(config(path) for path in FILES if config(path).get("task") == name)
        assert read["dataset_kwargs"] == {"setting": level, "answer_tokens": 2000}


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **more}


@pytest.mark.long
def test_real_lm_eval_runs_all_sixteen_settings_on_a_model_with_a_chat_template(
    warm: Warm, dataset: Path, tiny_llama: Path, tmp_path: Path
) -> None:
    done = warm.run(
        [
            BIN / "lm_eval",
            *"--model hf --model_args".split(),
            f"pretrained={tiny_llama},dtype=float32",
            *"--tasks academiceval,academiceval_abs_9k_title_only,academiceval_ralm_abs_9k --include_path".split(),
            FOLDER,
            *"--limit 1 --apply_chat_template --gen_kwargs max_gen_toks=16 --batch_size 1 --device cpu --log_samples --output_path".split(),
            tmp_path / "out",
            "--metadata",
            metadata(dataset),
        ],
        env=environment(HF_HOME=str(tmp_path / "hf")),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "truncat" not in done.stderr.casefold()
    results = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text())
    tasks = {"academiceval_" + setting.name.lower().replace("-", "_") for setting in SETTINGS}
    assert tasks <= set(results["results"])
    for task in tasks:
        values = results["results"][task]
        assert 0.0 <= values["rouge_l,score"] <= 1.0
        assert "rouge_l_stderr,score" in values
        assert "truncated,score" not in values  # a diagnostic: printed on request, kept in every sample
    samples = [path for path in (tmp_path / "out").rglob("samples_*.jsonl")]
    assert len(samples) == 16 + 2
    row = json.loads(next(path for path in samples if "related_72k_m" in path.name).read_text().splitlines()[0])
    assert row["doc"]["round"] == "2026.11"
    assert row["doc"]["tokens_after"] < CONTEXT < row["doc"]["tokens_before"]
    scores = ScoredAnswer.from_text(row["filtered_resps"][0]).scores
    assert (scores["truncated"], scores["rouge_l"]) == (1.0, row["rouge_l"])
    assert {"rouge_lsum", "length_ratio"} <= scores.keys()


@pytest.mark.slow
def test_a_bare_lm_eval_finds_the_tasks_after_link_tasks_alone(
    warm: Warm, dataset: Path, tmp_path: Path, shared_tmp: Path
) -> None:
    with linked_tasks(shared_tmp):
        done = warm.run(
            [
                BIN / "lm_eval",
                *"--tasks academiceval_abs --model dummy --limit 1 --metadata".split(),
                '{"bertscore_model": "none"}',
            ],
            cwd=dataset.parent,
            env=environment(HF_HOME=str(tmp_path / "hf")),
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Abs-29K-G" in done.stdout


def test_link_tasks_leaves_alone_what_it_did_not_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "academiceval"
    theirs.mkdir()
    (theirs / "mine.yaml").write_text("task: mine")
    monkeypatch.setattr(task_folder, "_linked_folder", lambda: theirs)
    for action in (task_folder.link, task_folder.unlink):
        with pytest.raises(EvalError, match="was not made by academiceval"):
            action()
    assert (theirs / "mine.yaml").exists()


def test_link_tasks_that_was_killed_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tasks" / "academiceval"
    folder.parent.mkdir()
    monkeypatch.setattr(task_folder, "_linked_folder", lambda: folder)
    left, symlink_to = itertools.count(), Path.symlink_to

    def killed(self: Path, target: Path) -> None:
        if next(left) == 20:
            raise KeyboardInterrupt
        symlink_to(self, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "symlink_to", killed)
        task_folder.link()
    assert not any(folder.parent.iterdir())
    assert task_folder.link() == folder
    assert len(list(folder.rglob("*.yaml"))) > 20
    assert task_folder.unlink() == folder
    assert not any(folder.parent.iterdir())


def test_a_setting_of_the_rounds_own_is_asked_by_its_own_task_alone(dataset: Path, tmp_path: Path) -> None:
    """As the manifest says: a prompt for abstracts asks for no title."""
    manifest = json.loads((dataset / "manifest.json").read_text())
    manifest["configurations"].append({"name": "Own", "task": "title", "form": "full"})
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(OptionError, match="is a setting of another task than Abs-9K"):
        hook.load("Abs-9K", 512, dataset=str(tmp_path), config="Own", bertscore_model="none")


@pytest.mark.slow
def test_baselines_answer_and_are_scored(dataset: Path, tmp_path: Path) -> None:
    options = {"dataset": str(dataset), "bertscore_model": "none"}
    scores = {
        name: {s.metric: s for s in evaluate(name, "", ["academiceval_intro_28k_g"], options, None, tmp_path / name)}
        for name in families.of_task("abs").baselines
    }
    for name, one in scores.items():
        assert 0.05 < one["rouge_l"].value < 0.9, name
        assert one["rouge_l"].low is None or one["rouge_l"].low < one["rouge_l"].value < one["rouge_l"].high
        assert one["rouge_l"].value > one["rouge_l_random_pair"].value or name in ("copy-demo", "function-words")
        assert (one["rouge_l_content"].value == 0) == (name == "function-words")
        assert one["empty"].value == 0
        assert (tmp_path / name / f"results_{name}.json").is_file()
    assert len({one["rouge_l"].value for one in scores.values()}) == len(families.of_task("abs").baselines)
    items = score_table([s for one in scores.values() for s in one.values()])
    table = [line for item in items for line in text_lines(item, "markdown")]
    assert {len(line.split("|")) for line in table if line.startswith("|")} == {6 + 2}
    number = r"0\.\d{4}"
    assert re.search(
        rf"\| academiceval_intro_28k_g \| lead \| rouge_l \| {number}(?: \[{number}, {number}\])? \| \d+ \| - \|",
        "\n".join(table),
    )


@pytest.mark.slow
def test_without_demonstrations_there_is_nothing_to_copy(dataset: Path) -> None:
    options = {"dataset": str(dataset), "bertscore_model": "none"}
    with pytest.raises(EvalError, match="copy-demo has no score on any of these tasks"):
        evaluate("copy-demo", "", ["academiceval_abs_9k"], options, SampleSelection(2), None)
