"""The whole service over two months: a loopback arXiv, a Hub, and a server with three made-up models and a judge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from builder.records import Paper
from builder.sources.sample.source import SampleSource
from tests.helpers import hub_server as hub_servers
from tests.helpers import openai_server
from tests.helpers.loopback import World, serve
from tests.helpers.month import make_place

pytestmark = pytest.mark.slow

MONTHS = ("2026.11", "2026.12")
MODELS = ("reader", "skimmer", "inventor")
ROUND = """
settings = ["Abs-9K", "Title-10K"]
[source]
{source}
[papers]
categories = ["cs"]
published_to = {to}
[crawl]
seeds = {seeds}
authors = 60
[split]
validation = 0.2
test = 0.3
"""
LIVE = """
repo = "org/academiceval"
results_repo = "org/results"
space = "org/board"
[judge]
model = "judge"
base_url = "{url}"
"""
MODEL = """
model: local-chat-completions
model_args: {{model: {name}, base_url: "{url}/chat/completions", num_concurrent: 4}}
apply_chat_template: true
tasks: [academiceval_abs_9k, academiceval_title_10k]
metadata: {{bertscore_model: none}}
"""


def answering(papers: Sequence[Paper]) -> Callable[[dict[str, Any]], str]:
    """The models' answers: the whole target, its first half, or none of it; the judge prefers what it reads first."""

    def answer(body: dict[str, Any]) -> str:
        prompt = "\n".join(message["content"] for message in body["messages"])
        if body["model"] == "judge":
            return openai_server.FIRST_WINS
        # A task that shows the abstract asks for the title; titles of cited papers come after the paper's own.
        texts = [paper.title for paper in papers if paper.abstract in prompt]
        named = [paper for paper in papers if paper.title in prompt]
        texts += [min(named, key=lambda paper: prompt.index(paper.title)).abstract] if named else []
        words = texts[0].split()
        kept = {"reader": words, "skimmer": words[: len(words) // 2], "inventor": ["Nothing", "of", "it"]}
        return " ".join(kept[body["model"]])

    return answer


@pytest.mark.long
def test_two_months_of_the_service(tmp_path: Path) -> None:
    world = World(SampleSource(tmp_path / "arxiv", seed=0, authors=40, papers=80))
    with (
        serve(world) as arxiv,
        hub_servers.serve() as hub,
        openai_server.serve(answering(world.papers)) as models,
    ):
        source = "\n".join(f"{key} = {json.dumps(value)}" for key, value in arxiv.tables().items())
        place = make_place(tmp_path / "service", hub, {"live.toml": LIVE.format(url=models.url)})
        listed = "".join(f'[{name}]\nconfig = "{name}.yaml"\n' for name in MODELS)
        (place.path / "models.toml").write_text(listed)
        for name in MODELS:
            (place.path / f"{name}.yaml").write_text(MODEL.format(name=name, url=models.url))
        seeds = json.dumps([world.papers[0].authors[0]])
        days = [paper.published for paper in world.papers]
        for month, to in zip(MONTHS, (days[len(days) * 2 // 3], days[-1]), strict=True):
            (place.path / "round.toml").write_text(
                f'round = "{month}"\n' + ROUND.format(source=source, seeds=seeds, to=to)
            )
            code, out, errors = place.live("--round", month, "--yes")
            assert code == 0, errors
            assert ("academiceval update" in out) == (month == MONTHS[1])
        code, out, errors = place.live("--round", MONTHS[1], "--yes")
        assert (code, "nothing is new" in out) == (0, True), errors
    data = hub.repos["datasets/org/academiceval"]
    assert set(MONTHS) <= set(data.tags)
    first, second = ({path: blob.sha256 for path, blob in data.resolve(name).tree.items()} for name in MONTHS)
    changed = {
        path.partition("/")[0] for path in second if path.endswith(".parquet") and first.get(path) != second[path]
    }
    assert changed >= {"Abs-9K", "Title-10K"}
    results = hub.repos["datasets/org/results"].resolve("main").tree
    assert {path.rpartition("/")[0] for path in results} >= {f"{name}/{month}" for name in MODELS for month in MONTHS}
    page = hub.repos["spaces/org/board"].resolve("main").tree["index.html"].data.decode()
    ranked = re.findall(rf"<td class=.number.>(\d+)</td>\s*<th[^>]*>\s*({'|'.join(MODELS)})\b", page)
    assert ranked == [("1", "reader"), ("2", "skimmer"), ("3", "inventor")] * len(MONTHS)
