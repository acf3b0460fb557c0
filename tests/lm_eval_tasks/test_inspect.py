"""The tasks in Inspect: the same prompts are asked, and the same answers get the same scores as by `academiceval eval`."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lm_eval_tasks.base.contract import GENERATED
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.samples.sample import read
from lm_eval_tasks.tasks.catalogue import TASKS as RECORDS
from standins.openai_server import serve
from standins.places import BIN
from standins.rounds import build, prepare, small_round
from tests.helpers.served import Command, run_on

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

TASKS = ("title_10k", "abs_9k", "abs_29k_g", "related_53k", "scalar_easy")


def answering(body: dict[str, Any]) -> str:
    """Some words of the prompt, always the same for the same prompt, with a citation, and the answer to a choice."""
    prompt = body["messages"][-1]["content"]
    rng = random.Random(prompt)
    words = re.findall(r"\w+", prompt)
    return f'Here is it: "{" ".join(rng.choice(words) for _ in range(12))} [1]. The answer is: [{rng.randrange(4)}]"'


def run(program: str, *arguments: object, place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(place / "cache"),
        "INSPECT_DISPLAY": "plain",
        "INSPECT_LOG_DIR": str(place / "logs"),
        "XDG_DATA_HOME": str(place),
        **environment,
    }
    line = [str(BIN / program), *map(str, arguments)]
    return subprocess.run(line, cwd=place, env=own, capture_output=True, text=True, timeout=600)


def scores_of(log: EvalLog) -> Mapping[str, Mapping[str, float]]:
    """Sample -> metric -> score."""
    return {str(one.id): next(iter((one.scores or {}).values())).metadata["scores"] for one in log.samples or []}  # type: ignore[index]


@pytest.fixture(scope="module")
def round_(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round with SCALAR."""
    place = tmp_path_factory.mktemp("inspect")
    shutil.copytree(world / "work", place / "work")
    settings = ("Title-10K", "Abs-9K", "Abs-29K-G", "Related-53K")
    made = small_round(place, settings=settings, scalar={"levels": ["SCALAR-Easy"]})
    prepare(made, LocalEngine(2))
    return build(made).output


def test_every_task_is_registered_under_its_short_name() -> None:
    from lm_eval_tasks.inspect_tasks import TASKS as made

    generated = [record.name for record in RECORDS if record.way == GENERATED]
    assert {name.removeprefix("academiceval_") for name in generated} == set(made)
    assert len(made) > 50


@pytest.mark.long
@pytest.mark.parametrize("bertscore", ["none", "minilm"])
def test_the_same_answers_get_the_same_scores(bertscore: str, round_: Path, command: Command, tmp_path: Path) -> None:
    names = ",".join(task if task.startswith("scalar") else f"academiceval_{task}" for task in TASKS)
    with serve(answering) as server:
        line = (server.url, command, round_, tmp_path / "ours")
        code, _, err = run_on(*line, tasks=names, bertscore_model=bertscore)
        assert code == 0, err
        asked = sorted(body["messages"][-1]["content"] for body in server.requests)
        server.requests.clear()
        model = ("--model", "openai-api/loop/m", "-T", f"dataset={round_}", "-T", f"bertscore_model={bertscore}")
        loop = {"LOOP_BASE_URL": server.url, "LOOP_API_KEY": "none"}
        done = run("inspect", "eval", *(f"academiceval/{task}" for task in TASKS), *model, place=tmp_path, **loop)
        assert done.returncode == 0, done.stdout + done.stderr
        assert sorted(body["messages"][-1]["content"] for body in server.requests) == asked
    ours: dict[str, dict[str, dict[str, float]]] = {}
    for one in read([tmp_path / "ours"]):
        ours.setdefault(one.task.split(" ")[0], {})[one.id] = dict(one.scores)
    from inspect_ai.log import read_eval_log

    logs = [read_eval_log(path) for path in sorted((tmp_path / "logs").iterdir())]
    assert len(logs) == len(ours) == len(TASKS)
    for log in logs:
        found = scores_of(log)
        own = ours[str(log.eval.dataset.name)]
        assert found.keys() == own.keys()
        for id_, scores in own.items():
            assert found[id_] == pytest.approx(scores, abs=2e-4), (log.eval.task, id_)
        assert log.eval.task_version == ("1.3" if log.eval.task.endswith("scalar_easy") else "1.1")
        assert log.results is not None
        by_metric = {one.name: one.metrics for one in log.results.scores}
        headline = "accuracy" if "scalar" in log.eval.task else "rouge_l"
        assert by_metric[headline]["mean"].value == pytest.approx(sum(one[headline] for one in own.values()) / len(own))
        assert "'cluster': 'first_author'" in str((log.eval.scorers or [])[0].metrics)


@pytest.mark.long
def test_its_mock_model_and_its_mistakes(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "mock.py").write_text(
        "import sys\n"
        "from inspect_ai import eval\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "def answer(input, tools, choice, config):\n"
        "    made = ModelOutput.from_content('mock', 'We study graphs.')\n"
        "    return made.model_copy(update={'usage': ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)})\n"
        "for metrics in ('all', 'headline'):\n"
        "    [log] = eval('academiceval/abs_9k', model=get_model('mockllm/model', custom_outputs=answer), limit=3,\n"
        "                 task_args={'dataset': sys.argv[1], 'bertscore_model': 'none', 'metrics': metrics})\n"
        "    print(log.status, len(log.samples), *sorted(one.name for one in log.results.scores))\n"
    )
    done = run("python", "mock.py", dataset, place=tmp_path, INSPECT_DISPLAY="none")
    every, headline = done.stdout.splitlines()[-2:]
    floors = "rouge_l_content_lead rouge_l_content_sentences rouge_l_content_wrong_paper rouge_l_function_words rouge_l_wrong_paper"
    assert headline == f"success 3 capped rouge_l rouge_l_content {floors}", done.stderr
    assert {"rouge_1", "copied_from_input"} < set(every.split())
    for *given, says in (
        ("dataset=/nowhere", "bertscore_model=none", "/nowhere"),
        ("split=tset", "bertscore_modle=none", "did you mean 'bertscore_model'?"),
    ):
        line = ("eval", "academiceval/abs_9k", "--model", "mockllm/model", "-T", given[0], "-T", given[1])
        done = run("inspect", *line, place=tmp_path)
        text = re.sub(r"\s+", " ", done.stdout + done.stderr)
        assert done.returncode != 0
        assert says in text
        assert "Traceback" not in text
