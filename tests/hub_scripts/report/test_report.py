"""The results page: what is in it, and what it is made of."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from builder.dataset.publishable import publishable
from hub_scripts.report import standings
from hub_scripts.report.drawing import Plot, Sheet
from hub_scripts.report.inputs import find
from hub_scripts.report.newest import groups, newest_runs
from hub_scripts.report.runs import run_facts
from hub_scripts.report.sample_pages import SamplePage, copies
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.llm.usage import Usage, UsageTotals
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.block import Block, RunRequest, Score
from lm_eval_tasks.samples.prompt_row import EXCERPT, PromptRow
from lm_eval_tasks.samples.results import Results
from lm_eval_tasks.samples.sample import compact, read
from standins.rounds import hashes
from standins.runs import relist, rewrite
from tests.helpers.pages import ROOT
from tests.helpers.samples import own, sample
from tests.helpers.served import Command
from tests.hub_scripts.report.conftest import handed

pytestmark = pytest.mark.slow

LEAD = ("lead", "Abs-9K", "rouge_l")


@pytest.fixture(autouse=True)
def _plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty plots, because to draw them takes most of a site's time; the shared site, made before, has real ones."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: file.write("<svg/>"))


@pytest.fixture
def drawn() -> None:
    """For tests that look at plots which they draw themselves."""


@pytest.fixture
def page_of(command: Command, tmp_path: Path) -> Callable[..., str]:
    """Makes `site` of what is given; gives what the command prints."""

    def make(*given: object) -> str:
        code, out, err = command("report", *given, "-o", tmp_path / "site")
        assert (code, err) == (0, "")
        return out

    return make


def _rows(site: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Model, setting and metric -> what the page's spreadsheet says."""
    rows = csv.DictReader((site / "data" / "scores.csv").read_text().splitlines())
    return {(row["model"], row["setting"], row["metric"]): row for row in rows}


def test_the_board_says_what_the_results_say(site: Path, results: Path) -> None:
    rows = _rows(site)
    page = (site / "index.html").read_text()
    scores = json.loads((results / "lead" / "results_lead.json").read_text())["academiceval"]["scores"]
    told = {(one["task"], one["metric"]): one for one in scores}
    for setting in ("Abs-9K", "Abs-28K", "Abs-29K-G", "Title-10K"):
        one = told[f"academiceval_{setting.lower().replace('-', '_')}", "rouge_l_content"]
        row = rows["lead", setting, "rouge_l_content"]
        assert [float(row[name] or -1) for name in ("value", "low", "high", "n")] == pytest.approx(
            [-1 if one[name] is None else one[name] for name in ("value", "low", "high", "samples")], rel=1e-5
        )
        interval = f' <span class="interval">[{one["low"]:.3f}, {one["high"]:.3f}]</span>' if row["low"] else ""
        assert f"<strong>{one['value']:.3f}</strong>{interval}" in page
    judged = json.loads((results / "judged" / "judge_lead-by-judge-a.json").read_text())["tasks"]["Abs-9K"]["judge-a"]
    assert float(rows["lead", "Abs-9K", "win_rate (judge-a)"]["value"]) == pytest.approx(
        judged["win_rate"]["value"], rel=1e-5
    )
    assert ("copy-demo", "Abs-9K", "rouge_l") not in rows
    assert {row["cutoff"] for (model, *_), row in rows.items() if model == "lead"} == {"2026-09"}


def test_rounds_of_one_name_over_other_papers_are_sections_of_one_page(
    page_of: Callable[..., str], tmp_path: Path
) -> None:
    published = ROOT / "docs" / "results"
    page_of(published)
    lines = list(csv.DictReader((tmp_path / "site" / "data" / "scores.csv").read_text().splitlines()))
    titles = {(line["round"], line["model"]) for line in lines if line["setting"] == "Title-10K"}
    folders = {path.parents[2].name for path in published.glob("*/*/title_10k/samples_*.jsonl")}
    # A section with the runs of several folders is called after all of them.
    called = {name for round_, _ in titles for name in round_.removeprefix("2026.11 (").removesuffix(")").split(", ")}
    assert folders <= called
    page = (tmp_path / "site" / "index.html").read_text()
    # A level of few authors says so where it stands.
    assert re.search(r"Next-8K.{1,400}no interval: \w", page, re.DOTALL)


def test_scores_before_and_since_a_month_are_those_of_the_samples(site: Path, results: Path) -> None:
    """What the page shows apart is text that was made with it; the spreadsheet has the same numbers."""
    steps = handed(site / "data" / "splits.js")
    table = re.findall(r'<tr data-row="(\d+)".*?</tr>', (site / "index.html").read_text(), re.DOTALL)
    assert list(map(int, table)) == list(range(len(steps["rows"])))
    names = [tuple(row) for row in _rows(site)]
    samples = [one for one in read([results / "lead"]) if one.task == "Abs-9K"]
    months = sorted({one.row.published[:7] for one in samples})
    assert len(months) > 2
    listed = list(csv.DictReader((site / "data" / "splits.csv").read_text().splitlines()))
    of_row = {row["split"]: row for row in listed if (row["model"], row["setting"], row["metric"]) == LEAD}
    assert sorted(of_row) == months[1:]
    for month in months[1:]:
        texts = steps["rows"][names.index(LEAD)][steps["splits"].index(month)]
        for which, text in zip(("first", "rest"), texts, strict=True):
            own = [one for one in samples if (one.row.published[:7] < month) == (which == "first")]
            over = level([one.scores["rouge_l"] for one in own], [one.cluster for one in own])
            told = [of_row[month][f"{which}_{name}"] for name in ("value", "low", "high", "n")]
            wanted = [over.mean, *(over.bounds or ()), len(own)]
            assert [float(one) for one in told if one] == pytest.approx(wanted, rel=1e-4)
            shown = [float(one) for one in re.findall(r"-?[\d.]+", text.partition(";")[0])]
            assert shown == pytest.approx(wanted, abs=0.0006)


def test_two_models_are_shown_head_to_head(
    results: Path, dataset: Path, page_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model, shift in (("model-a", 0.0), ("model-b", 0.3)):
        (tmp_path / model).mkdir()
        for file in (results / "lead").glob("*_lead.json*"):
            text = file.read_text().replace('"model": "lead"', f'"model": "{model}"')
            (tmp_path / model / file.name.replace("_lead.", f"_{model}.")).write_text(text)
        relist(tmp_path / model)
        numbers = count()

        def shifted(line: dict[str, Any], shift: float = shift, numbers: Iterator[int] = numbers) -> dict[str, Any]:
            scored = ScoredAnswer.from_text(line["filtered_resps"][0])
            score = min(1.0, scored.scores["rouge_l_content"] + shift + 0.001 * (next(numbers) % 3))
            better = {**scored.scores, "rouge_l_content": score}
            return {**line, "filtered_resps": [replace(scored, scores=better, scorer=0).to_text()]}

        rewrite(tmp_path / model, shifted)
    site = tmp_path / "site"
    models = (tmp_path / "model-a", tmp_path / "model-b")
    page_of(*models, dataset)
    page = (site / "index.html").read_text()
    # The round has more tasks than were run.
    assert "Head to head" not in page
    assert "without Title-31K-G" in page
    page_of(*models)
    table = (site / "index.html").read_text().partition("Head to head</summary>")[2].partition("</table>")[0]
    cells = [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td>.*?</td>", table)]
    assert len(cells) == 4
    assert cells[0] == cells[3] == ""
    assert sorted(cell[0] for cell in cells if cell) == ["+", "-"]
    assert all("p &lt; 0.001" in cell for cell in cells if cell)
    # Of very many models only the first are compared with one another.
    monkeypatch.setattr(standings, "MOST_TESTED", 1)
    page_of(*models)
    assert "Head to head" not in (site / "index.html").read_text()
    boards = csv.DictReader((site / "data" / "boards.csv").read_text().splitlines())
    assert [row["rank"] for row in boards if row["model"].startswith("model-")] == ["1", ""]


def test_made_up_papers_are_called_so_on_every_page(
    site: Path, results: Path, page_of: Callable[..., str], tmp_path: Path
) -> None:
    """With the round's manifest, and without."""
    page_of(results / "lead")
    for place in (site, tmp_path / "site"):
        for page in place.glob("*.html"):
            assert "Made-up papers" in page.read_text(), page
        samples = list((place / "data" / "samples").rglob("*.js"))
        assert samples
        assert not any('"url":' in sample.read_text() for sample in samples)
    real = tmp_path / "real"
    real.mkdir()
    for file in (results / "lead").iterdir():
        if file.suffix in (".json", ".jsonl"):
            (real / file.name).write_text(file.read_text().replace('"made_up": true, ', ""))
    relist(real)
    page_of(real)
    assert not any("Made-up papers" in page.read_text() for page in (tmp_path / "site").glob("*.html"))
    assert '"url":"https://arxiv.org/abs/' in "".join(
        sample.read_text() for sample in (tmp_path / "site" / "data" / "samples").rglob("*.js")
    )


def test_samples_of_the_validation_papers_reach_no_board_without_their_results(
    results: Path, command: Command, tmp_path: Path
) -> None:
    for file in (results / "lead").glob("*lead*"):
        shutil.copy(file, tmp_path)
    content = json.loads((tmp_path / "results_lead.json").read_text())
    content["academiceval"]["run"]["metadata"]["split"] = "validation"
    (tmp_path / "results_lead.json").write_text(json.dumps(content))
    [samples, *_] = sorted(tmp_path.glob("samples_*"))
    code, _, err = command("report", samples, "-o", tmp_path / "site")
    assert (code, "'validation'" in err) == (1, True), err


def test_one_authors_papers_have_no_interval(results: Path, page_of: Callable[..., str], tmp_path: Path) -> None:
    source = next(iter((results / "lead").glob("samples_*_9k_*")))
    (tmp_path / source.name).write_text(source.read_text().splitlines(keepends=True)[0])
    page_of(tmp_path / source.name)
    # Beside it stands the baseline whose score the sample carries.
    (row,) = [row for (*_, metric), row in _rows(tmp_path / "site").items() if metric == "rouge_l"]
    assert (row["n"], row["low"], row["high"]) == ("1", "", "")
    assert 'class="interval"' not in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.usefixtures("drawn")
def test_the_same_results_give_the_same_bytes(
    site: Path, results: Path, dataset: Path, command: Command, tmp_path: Path
) -> None:
    # A site whose place is taken.
    shutil.copytree(site, tmp_path / "again")
    (tmp_path / "again" / "index.html").write_text("old")
    (tmp_path / "again" / "old.html").write_text("old")
    assert command("report", results, dataset, "-o", tmp_path / "again")[0] == 0
    assert hashes(site) == hashes(tmp_path / "again")


def test_a_sample_shows_the_ends_of_its_slots(site: Path) -> None:
    sample = handed(next((site / "data" / "samples" / "2026.11_Abs-28K").glob("0.js")))
    bodies = [slot for slot in sample["prompts"][0]["slots"] if slot["component"] == "body"]
    assert len(bodies) == 1
    assert bodies[0]["characters"] == bodies[0]["end"] - bodies[0]["start"] > 4000
    assert len(bodies[0]["head"]) == len(bodies[0]["tail"]) == EXCERPT
    assert sum(slot["component"] == "demonstration" for slot in sample["prompts"][0]["slots"]) == 6
    assert {answer["model"] for answer in sample["answers"]} >= {"lead", "copy-demo"}
    lead = next(answer for answer in sample["answers"] if answer["model"] == "lead")
    assert len(lead["verdicts"]["judge-a"]) == 2


def test_excerpts_come_from_whole_prompts_too() -> None:
    doc = sample("a", "b", {}).row.to_doc() | {
        "prompt": "a" * 3000 + "b" * 5000 + "end",
        "slots": [{"component": "body", "index": 0, "field": "content", "characters": 9000, "start": 0, "end": 8000}],
    }
    [slot] = PromptRow.of_doc(doc).excerpts()
    assert (slot.head, slot.tail) == ("a" * 2000, "b" * 2000)
    kept = compact({"doc": doc, "arguments": [["x"]], "resps": [["y"]]})["doc"]
    assert kept["slots"] == [slot.to_json()]
    assert "prompt" not in kept
    assert PromptRow.of_doc(kept).excerpts() == (slot,)


def test_texts_without_a_licence_stay_out(results: Path, page_of: Callable[..., str], tmp_path: Path) -> None:
    """And answers that repeat them: a baseline that copies the paper would publish what its licence forbids."""
    out = page_of(results, "--licenses", "redistributable")
    found = re.search(r"left out: (\d+) of (\d+) answers \(([\d.]+)%\), which repeat over 25 consecutive words", out)
    assert found is not None
    shown = withheld = left_out = 0
    for path in (tmp_path / "site" / "data" / "samples").rglob("*.js"):
        sample = handed(path)
        allowed = all("creativecommons.org" in one and not re.search("-n[cd]", one) for one in sample["licenses"])
        texts = any("head" in slot for prompt in sample["prompts"] for slot in prompt["slots"])
        assert (sample["target"] is not None) == texts == allowed
        shown, withheld = shown + allowed, withheld + (not allowed)
        for answer in sample["answers"]:
            if answer["answer"] is None:
                left_out += 1
                assert not allowed
            else:
                assert allowed or not copies(answer, [])
    assert shown
    assert withheld
    assert left_out == int(found[1]) > 0


def test_plots_and_their_data(site: Path) -> None:
    page = (site / "plots.html").read_text()
    names = re.findall(r'src="plots/([^"]+)\.svg"', page)
    assert {
        "length_rouge_l_content_2026.11",
        "demonstrations_rouge_l_content_2026.11",
        "scores_abs_rouge_l_content_2026.11",
    } <= set(names)
    for name in names:
        assert f'href="plots/{name}.csv"' in page
        rows = list(csv.DictReader((site / "plots" / f"{name}.csv").read_text().splitlines()))
        assert rows
        assert f'srcset="plots/{name}-narrow.svg"' in page
        assert f'srcset="plots/{name}-dark.svg"' in page
    assert all(re.findall(r'alt="([^"]{40,})"', page))
    differences = list(
        csv.DictReader((site / "plots" / "demonstrations_rouge_l_content_2026.11.csv").read_text().splitlines())
    )
    # `lead` looks at no demonstrations: all its differences are 0, and it has no interval.
    assert {row["model"] for row in differences} == {"copy-demo"}


def test_a_dark_page_gets_the_same_picture_in_other_colours(site: Path) -> None:
    names = {path.name for path in (site / "plots").glob("*.svg")}
    dark = {name for name in names if name.endswith("-dark.svg")}
    assert {name.replace("-dark", "") for name in dark} == names - dark
    for name in dark:
        picture, light = ((site / "plots" / one).read_text() for one in (name, name.replace("-dark", "")))
        assert "<script" not in light + picture
        assert re.sub("#[0-9a-f]{6}", "", picture) == re.sub("#[0-9a-f]{6}", "", light)
        # Ground and ink change places; no light area of grey stays, on which light lines would be lost.
        grounds = [_fills(one)[0] for one in (light, picture)]
        assert grounds == ["#ffffff", "#16181b"], name
        assert "#1b1b1b" not in picture
        stay = {fill for fill in _fills(light) if re.fullmatch("#([c-f].)\\1\\1", fill)} - {"#ffffff"}
        assert stay.isdisjoint(_fills(picture)), name


def _fills(picture: str) -> list[str]:
    """The colours of areas."""
    return re.findall('fill(?:: |=")(#[0-9a-f]{6})', picture)


def test_a_telephone_gets_its_panels_below_one_another(site: Path) -> None:
    def inches(name: str) -> float:
        return float(re.search(r'<svg[^>]* width="([\d.]+)pt"', (site / "plots" / name).read_text())[1]) / 72  # type: ignore[index]

    names = {path.name for path in (site / "plots").glob("*.svg")}
    narrow = {name for name in names if "-narrow" in name}
    assert {name.replace("-narrow", "") for name in narrow} == names - narrow
    assert all(inches(name) < 5 for name in narrow)


def test_one_point_is_no_plot(results: Path, page_of: Callable[..., str], tmp_path: Path) -> None:
    """One setting, papers of one month: nothing to draw a line through."""
    (tmp_path / "run").mkdir()
    [file] = (results / "lead").glob("samples_academiceval_abs_9k_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["doc"]["published"] = "2026-09-01"
    (tmp_path / "run" / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    page_of(tmp_path / "run")
    # Without a manifest what was run is what counts.
    assert "On no board" not in (tmp_path / "site" / "index.html").read_text()
    plots = {path.name for path in (tmp_path / "site" / "plots").glob("*.svg")}
    assert not {name for name in plots if name.startswith(("length", "months", "judge"))}


@pytest.mark.parametrize(
    "part",
    [
        ("--limit", "3"),
        ("--shard", "1/2"),
        ("--samples", '{"academiceval_title_10k": [0, 2], "academiceval_abs_9k": [1]}'),
    ],
)
def test_the_command_of_a_record_gives_the_run_again(
    part: tuple[str, ...], dataset: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dataset.parent)
    metadata = ("--metadata", '{"published_after": "2026-01-01"}', "--dataset", dataset.name)
    asked = ("--tasks", "academiceval_title_10k,academiceval_abs_9k", "--bertscore", "none", *part)
    assert command("eval", "--model", "lead", *asked, *metadata, "--output", tmp_path / "first")[0] == 0
    assert command("report", tmp_path / "first", "-o", tmp_path / "site")[0] == 0
    [record] = (tmp_path / "site" / "data" / "runs").iterdir()
    [shown] = json.loads(record.read_text())
    program, *again = shlex.split(shown["command"])
    assert program == "academiceval"
    code, _, err = command(*again, "--output", tmp_path / "second")
    assert code == 0, err
    first, second = (list(read([tmp_path / name])) for name in ("first", "second"))
    assert [(one.identity, one.scores) for one in first] == [(one.identity, one.scores) for one in second]
    assert first


def test_a_run_has_its_record(results: Path, dataset: Path, page_of: Callable[..., str], tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "lead")
    [file] = (tmp_path / "lead").glob("results_*.json")
    content = json.loads(file.read_text())
    usage = {"answers": 10, "tokens_in": 123_450, "tokens_out": 600, "cost": 0.25}
    content["academiceval"]["usage"] = usage
    content["academiceval"]["run"]["model_args"] = {
        "pretrained": "/srv/secret/place/MODEL",
        "api_key": "sk-1234567890",
        "base_url": "http://gpu7.corp.internal:8000/v1",
        "tokenizer": "..\\models\\mine",
        "system": {"at": "$HOME/x"},
    }
    content["academiceval"]["run"]["system_instruction"] = "/no_think"
    file.write_text(json.dumps(content))
    page_of(tmp_path / "lead", dataset)
    page = (tmp_path / "site" / "index.html").read_text()
    [record] = set(re.findall(r'href="(data/runs/[^"]+)"', page))
    [shown] = json.loads((tmp_path / "site" / record).read_text())
    assert (shown["model"], shown["round"], shown["usage"]["cost"]) == ("lead", "2026.11", 0.25)
    arguments = shown["run"]["model_args"]
    assert (arguments["pretrained"], arguments["base_url"], arguments["tokenizer"]) == ("MODEL", "v1", "mine")
    assert (arguments["system"], shown["run"]["system_instruction"]) == ({"at": "x"}, "/no_think")
    assert str(tmp_path) not in json.dumps(shown)
    assert str(dataset.parent) not in json.dumps(shown)
    assert "sk-1234567890" not in json.dumps(shown)
    # Means of a prompt and of an answer; the cost of a thousand.
    assert "12,345" in page
    assert "+ 60<" in page
    assert ">25.00<" in page


def test_a_model_on_no_board_is_named(
    results: Path, dataset: Path, page_of: Callable[..., str], tmp_path: Path
) -> None:
    shutil.copytree(results / "lead", tmp_path / "run")
    for file in (tmp_path / "run").glob("samples_*"):
        if "abs_9k" not in file.name:
            file.unlink()
    rewrite(tmp_path / "run", lambda line: line)
    assert "on no board, only by task and setting: lead" in page_of(tmp_path / "run", dataset)
    assert "that a board counts: lead." in (tmp_path / "site" / "index.html").read_text()


def test_runs_that_are_shown_count(tmp_path: Path) -> None:
    def run(seconds: int, tasks: Sequence[str], usage: UsageTotals, model: str = "m") -> Results:
        scores = tuple(Score(model, task, "rouge_l", 0.5, None, None, 1) for task in tasks)
        return Results(
            tmp_path / "r",
            model,
            ("2026.11",),
            scores=scores,
            seconds=seconds,
            block=Block(
                run=RunRequest(model="hf"), rounds=("2026.11",), prompt_versions=(1,), scores=scores, usage=usage
            ),
        )

    old = run(1, ("a", "b"), UsageTotals(answers=10, cost=1.0))
    new = run(2, ("a",), UsageTotals(answers=10, cost=5.0))
    newest = run(3, ("a", "b"), UsageTotals(answers=20, cost=10.0))
    # The old one is the only one of task b; after the newest nobody needs either.
    assert run_facts({"m": [old, new]}, {}, tmp_path)["2026.11", "m"].cost == 300.0
    assert run_facts({"m": [old, new, newest]}, {}, tmp_path)["2026.11", "m"].cost == 500.0
    limited = replace(run(4, ("a", "b"), UsageTotals(answers=2, cost=9.0)), subsets={"a": (2, 40), "b": (2, 40)})
    assert run_facts({"m": [newest, limited]}, {}, tmp_path)["2026.11", "m"].cost == 500.0
    shards = [run(i, ("a",), UsageTotals(answers=10, cost=i)) for i in (1, 2)]
    parts = [replace(one, subsets={"a": (10, 20)}, options={"shard": f"{one.seconds}/2"}) for one in shards]
    assert run_facts({"m": parts}, {}, tmp_path)["2026.11", "m"].cost == 150.0
    assert run_facts({"m": [*parts, newest]}, {}, tmp_path)["2026.11", "m"].cost == 500.0
    usage = UsageTotals.of([*(Usage(1000, 100) for _ in range(7)), *(Usage() for _ in range(6))])
    assert (usage.untold, UsageTotals.of([Usage()]).untold) == (6, None)
    told = run_facts({"m": [run(1, ("a",), replace(usage, answers=13))]}, {}, tmp_path)["2026.11", "m"]
    assert (told.tokens_in, told.tokens_out) == (1000, 100)
    served = run(1, ("a",), UsageTotals(served={"first": 2, "second": 1}))
    assert run_facts({"m": [served]}, {}, tmp_path)["2026.11", "m"].served == ("first", "second")
    names = ("n", "x" * 290, "a/b", "a b", "a-b")
    facts = run_facts({name: [run(1, ("a",), UsageTotals(), name)] for name in names}, {}, tmp_path)
    assert facts["2026.11", "n"].tokens_in is None
    assert len({one.record for one in facts.values()}) == len(facts)


def test_rounds(site: Path, dataset: Path, results: Path, page_of: Callable[..., str], tmp_path: Path) -> None:
    page = (site / "rounds.html").read_text()
    for words in ("Round 2026.11", "Kept and dropped", "Audit", "Extraction", "too_few_random_demonstrations"):
        assert words in page
    publishable(dataset, tmp_path / "copy", "redistributable")
    (tmp_path / "alone").mkdir()
    shutil.copy(dataset / "manifest.json", tmp_path / "alone")
    for given, is_other in ((tmp_path / "copy", True), (tmp_path / "alone", False)):
        assert ("no run used exactly these files" in page_of(given, results / "lead")) == is_other
        page = (tmp_path / "site" / "rounds.html").read_text()
        assert re.search(r'<th scope="col">Month</th>.*<th scope="col">Category</th>', page, re.DOTALL)
        assert f"{1 - is_other} of 1" in page
    # Two of one name are told apart by their folders; the one that was asked says what counts.
    page_of(tmp_path / "copy", tmp_path / "alone", results / "lead")
    page = (tmp_path / "site" / "rounds.html").read_text()
    assert "Round 2026.11 (copy)" in page
    assert "Round 2026.11 (alone)" in page


def test_an_unfinished_run_is_named(results: Path, page_of: Callable[..., str], tmp_path: Path, caplog: Any) -> None:
    (half := tmp_path / "runs" / "half" / "2026-11-30T10-00-00").mkdir(parents=True)
    lines = (results / "lead" / "journal.jsonl").read_text().splitlines(keepends=True)
    first, *_ = (json.loads(line)["doc"]["setting"] for line in lines)
    lines = [line for line in lines if json.loads(line)["doc"]["setting"] == first]
    (half / "journal.jsonl").write_text("".join(lines[:3]) + lines[3][:40])
    page_of(tmp_path / "runs", results / "lead")
    page = (tmp_path / "site" / "index.html").read_text()
    assert "half: 3 answers to" in page
    assert "half" not in {model for model, *_ in _rows(tmp_path / "site")}
    [begun] = find([tmp_path / "runs"], {"Mine": tmp_path / "runs" / "half"}).samples
    assert begun.model == "Mine"
    inputs = find([tmp_path / "runs", results / "lead"], {"lead": half})
    assert all(list(newest_runs(key, files, inputs.round_names)) for key, files in groups(inputs).items())
    assert "journal.jsonl: a run of lead that has ended counts" in caplog.text


def test_a_judge_may_know_a_model_by_its_folder(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "my-run")
    content = json.loads((results / "judged" / "judge_lead-by-judge-a.json").read_text())
    (tmp_path / "judge_my-run.json").write_text(json.dumps({**content, "judged_model": "my-run"}))
    inputs = find([tmp_path])
    samples = read([tmp_path / "my-run"])
    assert sum(bool(inputs.verdicts.of("lead", sample)) for sample in samples) == len(inputs.verdicts) == len(samples)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda place: place.mkdir(), "no samples_*.jsonl, journal.jsonl or manifest.json was found"),
        (lambda place: None, "does not exist"),
        (lambda place: place.write_text("{}"), "no samples_*.jsonl"),
        (lambda place: (place.mkdir(), (place / "samples_x.jsonl").write_text("{}\n")), "is not a logged sample"),
        (lambda place: (place.mkdir(), (place / "results_x.json").write_text("{")), "is not a result of"),
        (lambda place: (place.mkdir(), (place / "manifest.json").write_text("{}")), "is of format None"),
    ],
)
def test_what_cannot_be_shown(make: Callable[[Path], object], says: str, command: Command, tmp_path: Path) -> None:
    make(tmp_path / "given")
    code, _, err = command("report", tmp_path / "given", "-o", tmp_path / "site")
    assert code == 1
    assert says in err
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / ".site.building").exists()


def test_names_stay_names(results: Path, command: Command, tmp_path: Path) -> None:
    """A round that is called like a path, a model like a formula, a folder next to ours."""
    place = tmp_path / "deep" / "given" / "$\\frac{1"
    place.mkdir(parents=True)
    for file in (results / "lead").glob("samples_*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows:
            row["doc"]["round"] = "../../../outside"
        (place / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = command("report", place, "-o", tmp_path / "deep" / "site")
    assert (code, err) == (0, ""), err
    assert {path.name for path in tmp_path.iterdir()} == {"deep"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"given", "site"}
    assert "length_rouge_l_content_..-..-..-outside" in (tmp_path / "deep" / "site" / "plots.html").read_text()


@pytest.mark.parametrize("date_of_smoke", [1.25, 2.25])
def test_of_two_runs_of_a_model_the_whole_one_is_shown_or_both_with_a_label(
    results: Path, page_of: Callable[..., str], tmp_path: Path, caplog: pytest.LogCaptureFixture, date_of_smoke: float
) -> None:
    smoke, full = tmp_path / "runs" / "first", tmp_path / "runs" / "full"
    # In one second, as two fast runs are.
    for place, date in ((smoke, date_of_smoke), (full, 1.75)):
        shutil.copytree(results / "lead", place)
        [file] = place.glob("results_*.json")
        content = json.loads(file.read_text())
        content["date"] = date
        file.write_text(json.dumps(content))
    kept: Counter[str] = Counter()

    def first_two(line: dict[str, Any]) -> dict[str, Any] | None:
        kept[line["doc"]["setting"]] += 1
        return line if kept[line["doc"]["setting"]] <= 2 else None

    rewrite(smoke, first_two)
    assert page_of(tmp_path / "runs").startswith("1 model,")
    assert f"is not shown: {full}" in caplog.text.replace(str(full.resolve()), str(full))
    assert page_of(tmp_path / "runs", "--label", f"lead, two papers={smoke}").startswith("2 models")


def test_halves_that_were_asked_otherwise_are_no_whole_run(
    results: Path, page_of: Callable[..., str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = len(_rows(tmp_path / "site")) if page_of(results / "lead") else 0
    for half in range(2):
        place = shutil.copytree(results / "lead", tmp_path / "runs" / str(half))
        rewrite(place, lambda line, half=half: line if line["doc_id"] % 2 == half else None)
    page_of(tmp_path / "runs")
    together = {key: row["n"] for key, row in _rows(tmp_path / "site").items()}
    assert "was asked otherwise" not in caplog.text
    [file] = (tmp_path / "runs" / "0").glob("results_*.json")
    content = json.loads(file.read_text())
    content["academiceval"]["run"]["gen_kwargs"] = "temperature=1.0"
    file.write_text(json.dumps(content))
    page_of(tmp_path / "runs")
    assert "was asked otherwise" in caplog.text
    alone = {key: row["n"] for key, row in _rows(tmp_path / "site").items()}
    assert whole and sum(map(int, alone.values())) < sum(map(int, together.values()))


def test_models_against_each_other_are_shown(
    results: Path, command: Command, page_of: Callable[..., str], tmp_path: Path
) -> None:
    place = tmp_path / "given"
    shutil.copytree(results, place)
    figures = {"samples": 8, "judged": 7, "worst_and_best": [0.55, 0.675], "raw_win_rate": 0.5}
    figures |= {"win_rate": {"value": 0.625, "low": 0.5, "high": 0.75}, "position_consistency": 0.9}
    duel = {"judged_model": "lead", "against": "copy-demo", "round": "2026.11", "tasks": {"Abs-9K": {"m": figures}}}
    (place / "judge_lead-against-copy-demo.json").write_text(json.dumps(duel))
    page_of(place)
    page = (tmp_path / "site" / "plots.html").read_text()
    assert "lead against copy-demo" in page
    assert "0.625 [0.500, 0.750]" in page
    # It is not a win rate against the authors' text.
    wins = {row["value"] for (*_, metric), row in _rows(tmp_path / "site").items() if metric.startswith("win_rate")}
    assert wins
    assert "0.625" not in wins
    (place / "judge_lead-against-copy-demo.json").write_text(json.dumps({**duel, "tasks": {"Abs-9K": {"m": {}}}}))
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert (code, "is not a file of a judge's results" in err) == (1, True)


def test_wrong_use(results: Path, site: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "one" / "lead")
    [file, *_] = sorted((tmp_path / "one").rglob("samples_*.jsonl"))
    file.write_text(file.read_text() * 2)
    relist(file.parent)
    code, _, err = command("report", tmp_path / "one", "-o", tmp_path / "site")
    assert (code, f"{file.name} has two answers to" in err) == (1, True)
    code, _, err = command("report", results, "-o", tmp_path / "one")
    assert (code, "is not a report" in err) == (1, True)
    assert (tmp_path / "one" / "lead").is_dir()
    shutil.copytree(site, tmp_path / "pages")
    (tmp_path / "pages" / "CNAME").write_text("example.org")
    code, _, err = command("report", results, "-o", tmp_path / "pages")
    assert (code, "contains CNAME, which would be lost" in err) == (1, True)
    assert (tmp_path / "pages" / "CNAME").is_file()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    assert command("report", results, "-o", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "index.html").is_file()
    for option, given, says in (("--cutoff", "lead=summer", "MODEL=YYYY-MM"), ("--label", "lead", "NAME=FOLDER")):
        code, _, err = command("report", results, "-o", tmp_path / "site", option, given)
        assert (code, f"is not {says}" in err) == (1, True)


def test_runs_over_other_papers_are_not_on_the_board(
    results: Path, dataset: Path, command: Command, page_of: Callable[..., str], tmp_path: Path
) -> None:
    shutil.copytree(results / "lead", tmp_path / "results" / "lead")
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "split": "all"})
    run = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--metadata", metadata)
    assert command(*run, "--output", tmp_path / "results" / "all")[0] == 0
    boards = []
    for place in ("results/lead", "results"):
        out = page_of(tmp_path / place)
        boards.append((tmp_path / "site" / "data" / "scores.csv").read_bytes())
    assert (
        f"left out: {tmp_path / 'results' / 'all' / 'results_lead.json'}, whose scores are over the split 'all'" in out
    )
    # The plain lm_eval puts all runs of a model into one folder.
    for file in (tmp_path / "results" / "all").glob("*_lead.json*"):
        file.rename(tmp_path / "results" / "lead" / file.name.replace("_lead.", "_2026-11-20."))
    # It lists no files of samples.
    other = tmp_path / "results" / "lead" / "results_2026-11-20.json"
    other.write_text(re.sub(r'"files": {[^}]*}', '"files": {}', other.read_text()))
    assert "results_2026-11-20.json, whose scores are over the split 'all'" in page_of(tmp_path / "results" / "lead")
    assert (tmp_path / "site" / "data" / "scores.csv").read_bytes() == boards[0]
    for file in (tmp_path / "results" / "lead").glob("*_2026-11-20.json*"):
        file.rename(tmp_path / "results" / "all" / file.name)
    assert boards[0] == boards[1]
    code, _, err = command("report", tmp_path / "results" / "all", "-o", tmp_path / "site")
    assert (code, "are over the split 'all': a page shows those of the test papers" in err) == (1, True)


def _changed(source: Path, place: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A run's samples with the first row changed."""
    place.mkdir(parents=True)
    [file, *_] = sorted(source.glob("samples_academiceval_abs_9k*.jsonl"))
    first, *others = file.read_text().splitlines(keepends=True)
    row = json.loads(first)
    change(row)
    (place / file.name).write_text(json.dumps(row) + "\n" + "".join(others))
    return place


ODD_ROWS: dict[str, Callable[[dict[str, Any]], None]] = {
    "a week for a day": lambda row: row["doc"].update(published="2026-W01"),
    "a list for a round": lambda row: row["doc"].update(round=["2026.11"]),
    "no author": lambda row: row["doc"].update(first_author=None),
    "an infinite score": lambda row: row.update(filtered_resps=['{"answer": "a", "scores": {"rouge_l": Infinity}}']),
    "a huge score": lambda row: row.update(filtered_resps=['{"answer": "a", "scores": {"rouge_l": 1e300}}']),
    "a slot without end": lambda row: row["doc"]["slots"][0].update(end=-1),
    "a cut that is not a count": lambda row: row["doc"].update(cut_body=1e400),
    "half a place": lambda row: row["doc"]["own"].update(copied=[1]),
    "more questions than answers": lambda row: row["doc"].update(prompt_name="next", own=own("next", asked=[1])),
    "a fifth of four candidates": lambda row: row["doc"].update(prompt_name="scalar", own=own("scalar", label=4)),
    "no filtered answer": lambda row: row.update(filtered_resps=[]),
    "no document": lambda row: row.update(doc=None),
}


@pytest.mark.parametrize("odd", ODD_ROWS)
def test_odd_samples_are_named(odd: str, results: Path, command: Command, tmp_path: Path) -> None:
    place = _changed(results / "lead", tmp_path / "odd", ODD_ROWS[odd])
    for line in (
        ("report", place, "-o", tmp_path / "site"),
        ("compare", place, results / "lead"),
        ("judge", place, "--dry-run"),
    ):
        code, _, err = command(*line)
        assert (code, err.count("\n")) == (1, 1), (odd, line[0], err)
        assert "line 1 of " in err
        assert "is not a logged sample of AcademicEval" in err
    assert not (tmp_path / "site").exists()


ODD_FILES: dict[str, tuple[str, object]] = {
    "a list of results": ("results_lead.json", []),
    "results that are a number": ("results_lead.json", {"academiceval": 1}),
    "a cut-off that is none": ("results_lead.json", {"academiceval": {"run": {"model_cutoff": "soon"}}}),
    "scores that are none": ("results_lead.json", {"academiceval": {"scores": [1]}}),
    "verdicts that are none": ("judge_lead.json", {"judged_model": "lead", "verdicts": [1]}),
    "orders that are none": ("judge_lead.json", {"verdicts": {"Abs-9K": {"1": {"j": [1]}}}}),
    "winners that are none": ("judge_lead.json", {"verdicts": {"Abs-9K": {"1": {"j": [{"Overall Winner": 9}, None]}}}}),
    "a deep file": ("judge_lead.json", None),
}


@pytest.mark.parametrize("odd", ODD_FILES)
def test_odd_files_beside_samples_are_named(odd: str, results: Path, command: Command, tmp_path: Path) -> None:
    name, content = ODD_FILES[odd]
    place = _changed(results / "lead", tmp_path / "odd", lambda row: None)
    (place / name).write_text("[" * 100_000 if content is None else json.dumps(content))
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert (code, err.count("\n")) == (1, 1), err
    assert name in err


def test_an_answer_is_withheld_by_its_longest_run(tmp_path: Path) -> None:
    text = " ".join(f"word{i}" for i in range(26))
    measured = {"copied_from_input": 3.0, "copied_from_demonstrations": 0.0}
    assert copies({"answer": text, "scores": {**measured, "copied_from_input": 26.0}}, [])
    assert copies({"answer": text, "scores": {**measured, "copied_from_demonstrations": 26.0}}, [])
    assert copies({"answer": text, "scores": measured}, ["other", f"before {text} after"])
    assert copies({"answer": text, "scores": {}}, [])
    assert not copies({"answer": text, "scores": measured}, ["another text"])
    assert copies({"answer": "\u6587" * 600, "scores": measured}, [])
    assert not copies({"answer": text.rpartition(" ")[0], "scores": {}}, [text])
    # Labels repeat no text, however many they are.
    of_labels = sample("p", "A", {}, prompt_name="next", licenses=["arxiv"])
    page = SamplePage(of_labels.row)
    page.add("m", replace(of_labels, answer=json.dumps({f"Passage {i}": "Passage 1" for i in range(1, 30)})), {})
    assert page.write(tmp_path / "p.js", "p", "redistributable") == 0


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    rows = [("=1+1", "+1", "-x", "@y", -0.5, 3, "plain")]
    Sheet(tmp_path).save(Figure(), Plot("p", "t", "a"), ["a"] * 7, rows)
    [_, cells] = csv.reader((tmp_path / "p.csv").read_text().splitlines())
    assert cells == ["'=1+1", "'+1", "'-x", "'@y", "-0.5", "3", "plain"]
