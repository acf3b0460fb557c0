"""The results page: what is in it, and how it behaves in a browser."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from playwright.sync_api import expect

from builder.dataset.publishable import publishable
from hub_scripts.report.drawing import Plot, Sheet
from hub_scripts.report.figures import draw_all
from hub_scripts.report.gather import copies
from hub_scripts.report.inputs import find
from hub_scripts.report.runs import run_facts
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.judge import run as judging
from lm_eval_tasks.llm.budget import Means
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.results import Results, Score
from lm_eval_tasks.samples.row import EXCERPT, PromptRow
from lm_eval_tasks.samples.sample import compact, read
from tests.helpers import openai_server
from tests.helpers.browser import Visit, chromium
from tests.helpers.hub_server import Hub
from tests.helpers.runs import relist
from tests.helpers.samples import sample

pytestmark = pytest.mark.slow

Command = Callable[..., tuple[int, str, str]]
TASKS = "academiceval_abs_9k,academiceval_abs_28k,academiceval_abs_29k_g,academiceval_title_10k"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u2028</script>"


@pytest.fixture(autouse=True)
def _plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty plots, because to draw them takes most of a site's time; the site of this module, made before, has real ones."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: Path(file).write_text("<svg/>"))


@pytest.fixture
def drawn() -> None:
    """For tests that look at plots which they draw themselves."""


@pytest.fixture(scope="module")
def results(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two baselines' runs, a judge's verdicts on one, and a third model whose texts attack the page."""
    from builder.cli import main

    place = tmp_path_factory.mktemp("results")
    for model in ("lead", "copy-demo"):
        options = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "model_cutoff": "2026-09"})
        assert (
            main(["eval", "--model", model, "--tasks", TASKS, "--metadata", options, "--output", str(place / model)])
            == 0
        )
    with openai_server.serve(_verdict) as server:
        samples = judging.load([place / "lead"])
        judging.judge(samples, {"judge-a": Means()}, server.url, 4, place / "judged", "lead")
    _make_hostile(place / "lead", place / "hostile")
    return place


def _verdict(body: dict[str, Any]) -> str:
    names = ("Novelty", "Feasibility", "Consistency", "Factuality", "Academic Style", "Overall Winner")
    shown = f"[Answer {1 + len(body['messages'][0]['content']) % 2}]"
    return json.dumps({name: {"Winner": shown, "Reason": "so"} if name != names[-1] else shown for name in names})


def _make_hostile(source: Path, place: Path) -> None:
    place.mkdir()
    for file in source.glob("samples_*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows:
            scored = ScoredAnswer.from_text(row["filtered_resps"][0])
            row["filtered_resps"] = [replace(scored, answer=HOSTILE).to_text()]
            row["doc"]["slots"][0]["head"] = HOSTILE
        (place / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    content = json.loads((source / "results_lead.json").read_text())
    for score in content["academiceval"]["scores"]:
        score["model"] = "<b onclick=alert(1)>evil"
    (place / "results_lead.json").write_text(json.dumps(content))
    relist(place)


@pytest.fixture(scope="module")
def site(results: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from builder.cli import main

    place = tmp_path_factory.mktemp("report") / "site"
    assert main(["report", str(results), str(dataset), "-o", str(place)]) == 0
    return place


def _data(path: Path) -> Any:
    """What a script of data hands over."""
    match = re.fullmatch(r'academiceval\("[^"]+",(.*)\);\n', path.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    return json.loads(match[1])


def _cells(site: Path) -> dict[tuple[str, str], dict[str, Any]]:
    board = _data(site / "data" / "board.js")
    return {(board["models"][c["m"]]["name"], board["settings"][c["s"]]["name"]): c for c in board["cells"]}


def test_the_board_says_what_the_results_say(site: Path, results: Path) -> None:
    cells = _cells(site)
    scores = json.loads((results / "lead" / "results_lead.json").read_text())["academiceval"]["scores"]
    told = {(one["task"], one["metric"]): one for one in scores}
    for setting in ("Abs-9K", "Abs-28K", "Abs-29K-G", "Title-10K"):
        one = told[f"academiceval_{setting.lower().replace('-', '_')}", "rouge_l"]
        cell = cells["lead", setting]
        assert cell["x"]["rouge_l"] == [round(one[name], 6) for name in ("value", "low", "high")]
        assert cell["n"] == one["samples"]
    judged = json.loads((results / "judged" / "judge_lead.json").read_text())["tasks"]["Abs-9K"]["judge-a"]
    assert cells["lead", "Abs-9K"]["x"]["win_rate"][0] == round(judged["win_rate"]["value"], 6)
    assert ("copy-demo", "Abs-9K") not in cells
    models = {one["name"]: one["cutoff"] for one in _data(site / "data" / "board.js")["models"]}
    assert models["lead"] == "2026-09"


def test_two_models_are_shown_head_to_head(results: Path, dataset: Path, command: Command, tmp_path: Path) -> None:
    for model, shift in (("model-a", 0.0), ("model-b", 0.3)):
        (tmp_path / model).mkdir()
        for file in (results / "lead").glob("samples_*.jsonl"):
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            for i, line in enumerate(lines):
                scored = ScoredAnswer.from_text(line["filtered_resps"][0])
                shifted = min(1.0, scored.scores["rouge_l_content"] + shift + 0.001 * (i % 3))
                better = {**scored.scores, "rouge_l_content": shifted}
                line["filtered_resps"] = [replace(scored, scores=better).to_text()]
            (tmp_path / model / file.name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        text = (results / "lead" / "results_lead.json").read_text().replace('"model": "lead"', f'"model": "{model}"')
        (tmp_path / model / f"results_{model}.json").write_text(text)
    site = tmp_path / "site"
    assert command("report", tmp_path / "model-a", tmp_path / "model-b", dataset, "-o", site)[0] == 0
    page = (site / "index.html").read_text()
    # The round has more tasks than were run.
    assert "Head to head" not in page
    assert "without Title-31K-G" in page
    assert command("report", tmp_path / "model-a", tmp_path / "model-b", "-o", site)[0] == 0
    table = (site / "index.html").read_text().partition("Head to head</summary>")[2].partition("</table>")[0]
    cells = [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td>.*?</td>", table)]
    assert len(cells) == 4
    assert cells[0] == cells[3] == ""
    assert sorted(cell[0] for cell in cells if cell) == ["+", "-"]
    assert all("p &lt; 0.001" in cell for cell in cells if cell)


def test_made_up_papers_are_called_so_on_every_page(
    results: Path, dataset: Path, command: Command, tmp_path: Path
) -> None:
    for name, given in (("with", [results / "lead", dataset]), ("without", [results / "lead"])):
        assert command("report", *given, "-o", tmp_path / name)[0] == 0
        for page in (tmp_path / name).glob("*.html"):
            assert "Made-up papers" in page.read_text(), page
        samples = list((tmp_path / name / "data" / "samples").rglob("*.js"))
        assert samples
        assert not any('"url":' in sample.read_text() for sample in samples)
    real = tmp_path / "real"
    real.mkdir()
    for file in (results / "lead").iterdir():
        if file.suffix in (".json", ".jsonl"):
            (real / file.name).write_text(file.read_text().replace('"made_up": true, ', ""))
    relist(real)
    assert command("report", real, "-o", tmp_path / "site")[0] == 0
    assert not any("are made up" in page.read_text() for page in (tmp_path / "site").glob("*.html"))
    assert '"url":"https://arxiv.org/abs/' in "".join(
        sample.read_text() for sample in (tmp_path / "site" / "data" / "samples").rglob("*.js")
    )


def test_one_authors_papers_have_no_interval(results: Path, command: Command, tmp_path: Path) -> None:
    source = next(iter((results / "lead").glob("samples_*_9k_*")))
    (tmp_path / source.name).write_text(source.read_text().splitlines(keepends=True)[0])
    assert command("report", tmp_path / source.name, "-o", tmp_path / "site")[0] == 0
    # Beside it stands the baseline whose score the sample carries.
    (cell,) = [cell for cell in _cells(tmp_path / "site").values() if "rouge_l" in cell["x"]]
    assert (cell["n"], len(cell["x"]["rouge_l"])) == (1, 1)
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
    first, second = (
        {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for place in (site, tmp_path / "again")
    )
    assert first == second


def test_a_sample_shows_the_ends_of_its_slots(site: Path) -> None:
    sample = _data(next((site / "data" / "samples" / "2026.11_Abs-28K").glob("0.js")))
    bodies = [slot for slot in sample["prompts"][0]["slots"] if slot["part"] == "body"]
    assert len(bodies) == 1
    assert bodies[0]["characters"] == bodies[0]["end"] - bodies[0]["start"] > 4000
    assert len(bodies[0]["head"]) == len(bodies[0]["tail"]) == EXCERPT
    assert sum(slot["part"] == "demonstration" for slot in sample["prompts"][0]["slots"]) == 6
    assert {answer["model"] for answer in sample["answers"]} >= {"lead", "copy-demo"}
    lead = next(answer for answer in sample["answers"] if answer["model"] == "lead")
    assert len(lead["verdicts"]["judge-a"]) == 2


def test_excerpts_come_from_whole_prompts_too() -> None:
    doc = sample("a", "b", {}).row.to_doc() | {
        "prompt": "a" * 3000 + "b" * 5000 + "end",
        "slots": [{"part": "body", "index": 0, "field": "content", "characters": 9000, "start": 0, "end": 8000}],
    }
    [slot] = PromptRow.of_doc(doc).excerpts()
    assert (slot.head, slot.tail) == ("a" * 2000, "b" * 2000)
    kept = compact({"doc": doc, "arguments": [["x"]], "resps": [["y"]]})["doc"]
    assert kept["slots"] == [slot.to_json()]
    assert "prompt" not in kept
    assert PromptRow.of_doc(kept).excerpts() == (slot,)


def test_texts_without_a_licence_stay_out(results: Path, command: Command, tmp_path: Path) -> None:
    assert command("report", results, "-o", tmp_path / "public", "--licenses", "redistributable")[0] == 0
    shown = withheld = 0
    for path in (tmp_path / "public" / "data" / "samples").rglob("*.js"):
        sample = _data(path)
        allowed = all("creativecommons.org" in one and not re.search("-n[cd]", one) for one in sample["licenses"])
        texts = any("head" in slot for prompt in sample["prompts"] for slot in prompt["slots"])
        assert (sample["target"] is not None) == texts == allowed
        shown, withheld = shown + allowed, withheld + (not allowed)
    assert shown
    assert withheld


def test_plots_and_their_data(site: Path) -> None:
    page = (site / "plots.html").read_text()
    names = re.findall(r'src="plots/([^"]+)\.svg"', page)
    assert {
        "length_rouge_l_content_2026.11",
        "demonstrations_rouge_l_content_2026.11",
        "judge_2026.11",
        "months_rouge_l_content_abs",
    } <= set(names)
    for name in names:
        assert f'href="plots/{name}.csv"' in page
        rows = list(csv.DictReader((site / "plots" / f"{name}.csv").read_text().splitlines()))
        assert rows
        for file in (f"{name}.svg", f"{name}-narrow.svg"):
            assert "<script" not in (site / "plots" / file).read_text()
        assert f'srcset="plots/{name}-narrow.svg"' in page
    assert all(re.findall(r'alt="([^"]{40,})"', page))
    months = list(csv.DictReader((site / "plots" / "months_rouge_l_content_abs.csv").read_text().splitlines()))
    assert {row["cutoff"] for row in months if row["model"] == "lead"} == {"2026-09"}
    # Papers of a month that two settings asked about are counted in each, never together.
    assert {row["setting"] for row in months} == {"Abs-9K", "Abs-28K", "Abs-29K-G"}
    differences = list(
        csv.DictReader((site / "plots" / "demonstrations_rouge_l_content_2026.11.csv").read_text().splitlines())
    )
    assert {row["model"] for row in differences if float(row["difference"]) == 0} >= {"lead"}


def test_a_telephone_gets_its_panels_below_one_another(site: Path) -> None:
    def inches(name: str) -> float:
        return float(re.search(r'<svg[^>]* width="([\d.]+)pt"', (site / "plots" / name).read_text())[1]) / 72  # type: ignore[index]

    names = {path.name for path in (site / "plots").glob("*.svg")}
    narrow = {name for name in names if name.endswith("-narrow.svg")}
    assert {name.replace("-narrow", "") for name in narrow} == names - narrow
    assert all(inches(name) < 5 for name in narrow)


def test_one_point_is_no_plot(results: Path, tmp_path: Path) -> None:
    """One setting, papers of one month: nothing to draw a line through."""
    from builder.cli import main

    (tmp_path / "run").mkdir()
    [file] = (results / "lead").glob("samples_academiceval_abs_9k_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["doc"]["published"] = "2026-09-01"
    (tmp_path / "run" / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["report", str(tmp_path / "run"), "-o", str(tmp_path / "site")]) == 0
    # Without a manifest what was run is what counts.
    assert "On no board" not in (tmp_path / "site" / "index.html").read_text()
    plots = {path.name for path in (tmp_path / "site" / "plots").glob("*.svg")}
    assert not {name for name in plots if name.startswith(("length", "months", "judge"))}


def test_a_run_has_its_record(results: Path, dataset: Path, command: Command, tmp_path: Path) -> None:
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
    code, _, err = command("report", tmp_path / "lead", dataset, "-o", tmp_path / "site")
    assert (code, err) == (0, "")
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


def test_a_model_on_no_board_is_named(results: Path, dataset: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "run")
    for file in (tmp_path / "run").glob("samples_*"):
        if "abs_9k" not in file.name:
            file.unlink()
    relist(tmp_path / "run")
    code, out, _ = command("report", tmp_path / "run", dataset, "-o", tmp_path / "site")
    assert (code, "on no board, only by task and setting: lead" in out) == (0, True)
    assert "what boards count: lead." in (tmp_path / "site" / "index.html").read_text()


def test_runs_that_are_shown_count_and_odd_ones_do_not_end_the_page(tmp_path: Path) -> None:
    def run(seconds: int, tasks: Sequence[str], usage: object, model: str = "m") -> Results:
        scores = tuple(Score(model, task, "rouge_l", 0.5, None, None, 1) for task in tasks)
        return Results(
            tmp_path / "r",
            model,
            ("2026.11",),
            scores=scores,
            seconds=seconds,
            content={"academiceval": {"usage": usage}},
        )

    old = run(1, ("a", "b"), {"answers": 10, "cost": 1.0})
    new = run(2, ("a",), {"answers": 10, "cost": 5.0})
    newest = run(3, ("a", "b"), {"answers": 20, "cost": 10.0})
    # The old one is the only one of task b; after the newest nobody needs either.
    assert run_facts({"m": [old, new]}, tmp_path)["2026.11", "m"].cost == 300.0
    assert run_facts({"m": [old, new, newest]}, tmp_path)["2026.11", "m"].cost == 500.0
    odd = {"n": [run(1, ("a",), {"answers": "5", "tokens_in": [1]}, "n")], "x" * 290: [run(1, ("a",), None, "x" * 290)]}
    alike = {name: [run(1, ("a",), {}, name)] for name in ("a/b", "a b", "a-b")}
    facts = run_facts({**odd, **alike}, tmp_path)
    assert facts["2026.11", "n"].tokens_in is None
    assert len({one.record for one in facts.values()}) == len(facts)


def test_no_scores_no_plots(tmp_path: Path) -> None:
    assert draw_all([], {}, tmp_path) == []


def test_rounds(site: Path, dataset: Path, command: Command, tmp_path: Path) -> None:
    page = (site / "rounds.html").read_text()
    for words in (
        "Round 2026.11",
        "Kept and dropped",
        "Audit",
        "Extraction",
        "Co-author graph",
        "too_few_random_demonstrations",
    ):
        assert words in page
    publishable(dataset, tmp_path / "copy", "redistributable")
    (tmp_path / "alone").mkdir()
    shutil.copy(dataset / "manifest.json", tmp_path / "alone")
    for given, graph in ((tmp_path / "copy", True), (tmp_path / "alone", False)):
        assert command("report", given, "-o", tmp_path / "site")[0] == 0
        assert ("Co-author graph" in (tmp_path / "site" / "rounds.html").read_text()) == graph


def test_an_unfinished_run_is_named(results: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "runs" / "half").mkdir(parents=True)
    lines = (results / "lead" / "journal.jsonl").read_text().splitlines(keepends=True)
    first, *_ = (json.loads(line)["doc"]["setting"] for line in lines)
    lines = [line for line in lines if json.loads(line)["doc"]["setting"] == first]
    (tmp_path / "runs" / "half" / "journal.jsonl").write_text("".join(lines[:3]) + lines[3][:40])
    assert command("report", tmp_path / "runs", results / "lead", "-o", tmp_path / "site")[0] == 0
    page = (tmp_path / "site" / "index.html").read_text()
    assert "half: 3 answers to" in page
    assert ("half", "Abs-9K") not in _cells(tmp_path / "site")


def test_a_judge_may_know_a_model_by_its_folder(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "my-run")
    content = json.loads((results / "judged" / "judge_lead.json").read_text())
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
        (
            lambda place: (place.mkdir(), (place / "manifest.json").write_text('{"format": 5, "round": "x"}')),
            "is not a manifest",
        ),
    ],
)
def test_what_cannot_be_shown(make: Callable[[Path], object], says: str, command: Command, tmp_path: Path) -> None:
    make(tmp_path / "given")
    code, _, err = command("report", tmp_path / "given", "-o", tmp_path / "site")
    assert code == 1
    assert says in err
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / ".site.building").exists()


@pytest.mark.parametrize("spoil", [{"published": "soon"}, {"rouge_l": float("nan")}])
def test_values_that_are_none(spoil: dict[str, Any], results: Path, command: Command, tmp_path: Path) -> None:
    row = json.loads(next(iter((results / "lead").glob("samples_*_9k_*"))).read_text().splitlines()[0])
    row["doc"] |= {name: value for name, value in spoil.items() if name in row["doc"]}
    scored = ScoredAnswer.from_text(row["filtered_resps"][0])
    scores = {name: value for name, value in spoil.items() if name not in row["doc"]}
    row["filtered_resps"] = [replace(scored, scores={**scored.scores, **scores}).to_text()]
    (tmp_path / "samples_x.jsonl").write_text(json.dumps(row) + "\n")
    code, _, err = command("report", tmp_path / "samples_x.jsonl", "-o", tmp_path / "site")
    assert (code, "line 1 of" in err) == (1, True)


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


def test_of_two_runs_of_a_model_the_newest_is_shown_or_both_with_a_label(
    results: Path, command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    smoke, full = tmp_path / "runs" / "smoke", tmp_path / "runs" / "full"
    for place, date in ((smoke, 1), (full, 2)):
        shutil.copytree(results / "lead", place)
        [file] = place.glob("results_*.json")
        file.write_text(json.dumps({**json.loads(file.read_text()), "date": date}))
    for file in smoke.glob("samples_*.jsonl"):
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))
    relist(smoke)
    code, out, err = command("report", tmp_path / "runs", "-o", tmp_path / "site")
    assert code == 0, err
    assert out.startswith("1 model,")
    assert f"the newer run {full}" in caplog.text.replace(str(full.resolve()), str(full))
    code, out, err = command(
        "report", tmp_path / "runs", "-o", tmp_path / "site", "--label", f"lead, two papers={smoke}"
    )
    assert code == 0, err
    assert out.startswith("2 models")
    code, _, err = command("report", tmp_path / "runs", "-o", tmp_path / "site", "--label", "lead")
    assert (code, "is not NAME=FOLDER" in err) == (1, True)


def test_report_cards_of_metrics_are_shown(results: Path, command: Command, tmp_path: Path) -> None:
    place = tmp_path / "given"
    shutil.copytree(results / "lead", place / "lead")
    seen = {"accuracy": 0.6, "low": 0.5, "high": 0.7, "n": 40, "harmless": 0.1}
    (place / "report_card-abs.json").write_text(json.dumps({"rouge_l": {"numbers": seen, "names": seen}}))
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert code == 0, err
    page = (tmp_path / "site" / "plots.html").read_text()
    assert "What the metrics notice" in page
    assert "0.60 [0.50, 0.70]" in page
    (place / "report_card-abs.json").write_text("[]")
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert (code, "is not a report card" in err) == (1, True)


def test_agreement_of_metrics_and_models_against_each_other_are_shown(
    results: Path, command: Command, tmp_path: Path
) -> None:
    place = tmp_path / "given"
    shutil.copytree(results, place)
    rate = {"value": 0.625, "low": 0.5, "high": 0.75}
    figures = {
        "samples": 8,
        "judged": 7,
        "win_rate": rate,
        "worst_and_best": [0.55, 0.675],
        "raw_win_rate": 0.5,
        "length_controlled_win_rate": rate,
        "position_consistency": 0.9,
        "first_place_share": 0.5,
        "unparseable": 0,
        "failed": 0,
        "claims": None,
    }
    duel = {
        "judged_model": "lead",
        "against": "copy-demo",
        "round": "2026.11",
        "tasks": {"Abs-9K": {"m": figures}},
        "verdicts": {},
    }
    (place / "judge_lead-against-copy-demo.json").write_text(json.dumps(duel))
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert code == 0, err
    page = (tmp_path / "site" / "plots.html").read_text()
    assert "Models against each other" in page
    assert "0.625 [0.500, 0.750]" in page
    assert "How far the metrics agree" in page
    assert re.search(r"Abstract, over up to \d+ answers", page)
    for name in ("Numbers supported", "ROUGE-2", "Length"):
        assert name in page
    # It is not a win rate against the authors' text.
    assert '"win_rate":[0.625' not in (tmp_path / "site" / "data" / "board.js").read_text()
    (place / "judge_lead-against-copy-demo.json").write_text(json.dumps({**duel, "tasks": {"Abs-9K": {"m": {}}}}))
    code, _, err = command("report", place, "-o", tmp_path / "site")
    assert (code, "is not a file of a judge's results" in err) == (1, True)


def test_wrong_use(results: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(results / "lead", tmp_path / "one" / "lead")
    shutil.copytree(results / "lead", tmp_path / "two" / "lead")
    [file, *_] = sorted((tmp_path / "one").rglob("samples_*.jsonl"))
    file.write_text(file.read_text() * 2)
    relist(file.parent)
    code, _, err = command("report", tmp_path / "one", "-o", tmp_path / "site")
    assert (code, f"{file.name} has two answers to a sample" in err) == (1, True)
    code, _, err = command("report", results, "-o", tmp_path / "one")
    assert (code, "is not a report" in err) == (1, True)
    assert (tmp_path / "one" / "lead").is_dir()
    code, _, err = command("report", results, "-o", tmp_path / "site", "--cutoff", "lead=summer")
    assert (code, "is not MODEL=YYYY-MM" in err) == (1, True)


def test_runs_over_other_papers_are_not_on_the_board(
    results: Path, dataset: Path, command: Command, tmp_path: Path
) -> None:
    shutil.copytree(results / "lead", tmp_path / "results" / "lead")
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "split": "all"})
    run = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--metadata", metadata)
    assert command(*run, "--output", tmp_path / "results" / "all")[0] == 0
    boards = []
    for place in ("results/lead", "results"):
        code, out, err = command("report", tmp_path / place, "-o", tmp_path / "site")
        assert code == 0, err
        boards.append((tmp_path / "site" / "data" / "board.js").read_bytes())
    assert (
        f"left out: {tmp_path / 'results' / 'all' / 'results_lead.json'}, whose scores are over the split 'all'" in out
    )
    # The plain lm_eval puts all runs of a model into one folder.
    for file in (tmp_path / "results" / "all").glob("*_lead.json*"):
        file.rename(tmp_path / "results" / "lead" / file.name.replace("_lead.", "_2026-11-20."))
    # It lists no files of samples.
    other = tmp_path / "results" / "lead" / "results_2026-11-20.json"
    other.write_text(re.sub(r'"files": {[^}]*}', '"files": {}', other.read_text()))
    code, out, err = command("report", tmp_path / "results" / "lead", "-o", tmp_path / "site")
    assert (code, "results_2026-11-20.json, whose scores are over the split 'all'" in out) == (0, True), err
    assert (tmp_path / "site" / "data" / "board.js").read_bytes() == boards[0]
    for file in (tmp_path / "results" / "lead").glob("*_2026-11-20.json*"):
        file.rename(tmp_path / "results" / "all" / file.name)
    assert boards[0] == boards[1]
    code, _, err = command("report", tmp_path / "results" / "all", "-o", tmp_path / "site")
    assert (code, "are over the split 'all': a page shows those of the test papers" in err) == (1, True)
    code, _, err = command("push-results", tmp_path / "results" / "all", "--repo", "org/results")
    assert (code, "is about the split 'all'" in err) == (1, True)


def test_a_space(site: Path, results: Path, command: Command, hub: Hub, tmp_path: Path) -> None:
    place, push = tmp_path / "site", ("--space", "org/board", "--yes")
    code, out, err = command("report", results, "-o", place, *push[:-1])
    assert (code, "nothing was uploaded; add --yes" in out, hub.repos) == (0, True, {}), err
    code, out, err = command("report", results, "-o", place, *push)
    assert (code, err) == (0, ""), err
    tree = hub.repos["spaces/org/board"].resolve("main").tree
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert {path: blob.data for path, blob in tree.items() if path != ".gitattributes"} == files
    assert "sdk: static" in tree["README.md"].data.decode()
    assert tree["data/board.js"].large
    assert json.loads((place / "academiceval-site.json").read_text()) == {"licenses": "redistributable"}
    code, out, _ = command("report", results, "-o", place, *push)
    assert "already shows this site" in out
    code, out, _ = command("report", results / "copy-demo", "-o", place, *push)
    assert re.search(r"[1-9]\d* removed", out)


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:  # its own event loop must not run yet when the site is made
    with chromium() as opened:
        yield opened


def _column(page: Any, column: int) -> list[float]:
    cells = page.locator(f"#board tbody tr:not(.published, .reference) td:nth-child({column + 2}) a strong")
    return [float(one) for one in cells.all_inner_texts()]


@pytest.mark.browser
def test_sort_and_filter(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "index.html#task=abs")
    page = visit.page
    page.wait_for_selector("#filters:not([hidden])")
    assert page.locator("#board tr.published").count() == 0
    page.locator("#metric").select_option("rouge_l")
    page.get_by_label("published scores").check()
    expect(page.locator("#board tr.block")).to_have_count(1)
    heads = page.locator("#board thead th")
    names = [text.split("\n")[0].strip(" ▼▲") for text in heads.all_inner_texts()]
    assert names == ["Model", "Abs-9K", "Abs-28K", "Abs-29K-G", "Abs-9K none"]
    assert "published only" in heads.last.inner_text()
    assert _column(page, 0) == sorted(_column(page, 0), reverse=True)
    page.get_by_role("button", name="Abs-28K").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending] >> text=Abs-28K")
    page.get_by_role("button", name="Abs-28K").click()
    page.wait_for_selector("th[aria-sort=ascending] >> text=Abs-28K")
    assert _column(page, 1) == sorted(_column(page, 1))
    assert page.locator("tr.published").count() == 7
    assert page.locator("tr.reference", has_text="wrong paper").count() == 1
    page.get_by_label("Task").select_option("scalar")
    expect(page.locator("#board tbody tr")).to_have_count(13)
    assert "GPT 4o" in page.locator("#board tbody").inner_text()
    page.get_by_label("Task").select_option("abs")
    page.get_by_label("published scores").uncheck()
    page.get_by_label("Model").fill("COPY")
    expect(page.locator("#board tbody tr")).to_have_count(2)  # and the floor
    assert "copy-demo" in page.locator("#board tbody").inner_text()
    page.get_by_label("Model").fill("")
    page.get_by_label("Context up to").select_option("9")
    expect(page.locator("#board thead th")).to_have_count(2)
    page.locator("#metric").select_option("win_rate")
    expect(page.locator("#board caption")).to_contain_text("Judge win rate")
    page.reload()
    page.wait_for_selector("#filters:not([hidden])")
    assert page.locator("#metric").input_value() == "win_rate"
    assert visit.complaints == []


@pytest.mark.browser
def test_any_table_is_sorted_narrowed_and_saved(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "index.html#task=abs")
    page = visit.page
    page.wait_for_selector("#models:not([hidden])")
    board = page.locator("table.overall").first
    names = board.locator("tbody tr:not([hidden]) th")
    before = names.all_inner_texts()
    board.get_by_role("button", name="Model").click()
    expect(board.locator("thead th[aria-sort=ascending]")).to_contain_text("Model")
    ascending = [text.lower() for text in names.all_inner_texts()]
    assert ascending == sorted(ascending)
    board.get_by_role("button", name="Model").click()
    assert [text.lower() for text in names.all_inner_texts()] == ascending[::-1]
    assert sorted(before) == sorted(names.all_inner_texts())
    page.get_by_label("baselines").uncheck()
    expect(board.locator("tbody tr:not([hidden])")).to_have_count(1)
    expect(page.locator("#kept")).to_contain_text("ranks count all")
    page.get_by_label("baselines").check()
    tools = page.locator(".tools").first
    tools.get_by_text("Columns").click()
    assert not tools.get_by_label("Capped").is_checked()
    expect(board.get_by_role("columnheader", name="Capped")).to_be_hidden()
    tools.get_by_label("Capped").check()
    expect(board.get_by_role("columnheader", name="Capped")).to_be_visible()
    tools.get_by_label("Cost/1,000").uncheck()
    with page.expect_download() as download:
        tools.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert download.value.suggested_filename.endswith(".csv")
    assert len(rows) == len(before)
    assert "Capped" in rows[0]
    assert not any("Cost" in name for name in rows[0])
    assert {row["Model"] for row in rows} >= {"lead", "copy-demo"}
    [row] = [row for row in rows if row["Model"] == "lead"]
    assert float(row["Writing low"]) < float(row["Writing"]) < float(row["Writing high"])
    assert row["Model note"].startswith("baseline")
    assert visit.complaints == []


@pytest.mark.browser
def test_a_cell_is_saved_as_a_spreadsheet_takes_it(browser: Any, site: Path) -> None:
    page = Visit(browser, site, "index.html").page
    page.wait_for_selector("#models:not([hidden])")
    script = """() => {
      const table = document.querySelector("table.overall");
      const row = table.tBodies[0].rows[0];
      row.cells[1].textContent = '=HYPERLINK("x"), y';
      row.cells[2].textContent = "+0.120 [+0.100, +0.140]";
      row.cells[3].textContent = "-2 +cmd|' /C calc'!A0";
      return tables.csv(table);
    }"""
    [first, *_] = csv.DictReader(page.evaluate(script).splitlines())
    assert (first["Model"], first["Writing"]) == ('\'=HYPERLINK("x"), y', "+0.120 [+0.100, +0.140]")
    assert "'-2 +cmd|' /C calc'!A0" in first.values()


@pytest.mark.browser
def test_texts_that_differ_are_marked_and_no_others(browser: Any, site: Path) -> None:
    page = Visit(browser, site, "samples.html#setting=2026.11_Abs-9K&sample=0").page
    page.wait_for_selector("#shown h2")
    sample = _data(site / "data" / "samples" / "2026.11_Abs-9K" / "0.js")
    texts = [
        {json.dumps([s["part"], s["index"], s["field"], s["head"]]) for s in p["slots"]} for p in sample["prompts"]
    ]
    assert len(texts) > 1  # the third model's first text is another one
    apart = sum(len(own - set.intersection(*texts)) for own in texts)
    assert 0 < apart < sum(map(len, texts))
    expect(page.locator("#shown .card summary .tag", has_text="differs")).to_have_count(apart)


@pytest.mark.browser
def test_scores_between_floor_and_ceiling(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "index.html#task=abs")
    page = visit.page
    page.wait_for_selector("#filters:not([hidden])")
    raw = _column(page, 0)
    floor = float(page.locator("tr.reference", has_text="wrong paper").locator("td strong").first.inner_text())
    page.get_by_label("Scale").select_option("placed")
    expect(page.locator("#board tr.reference", has_text="wrong paper")).to_have_count(0)
    assert _column(page, 0) == pytest.approx([(one - floor) / (1 - floor) for one in raw], abs=0.002)
    page.locator("#from").focus()
    page.keyboard.press("End")
    expect(page.get_by_label("Scale")).to_be_disabled()
    assert visit.complaints == []


@pytest.mark.browser
def test_the_slider_scores_anew(browser: Any, site: Path, results: Path) -> None:
    visit = Visit(browser, site, "index.html#task=abs&published=false")
    page = visit.page
    page.wait_for_selector("#filters:not([hidden])")
    rows = [one for one in read([results / "lead"]) if one.task == "Abs-9K"]
    months = sorted({one.row.published[:7] for one in rows})
    assert len(months) > 1
    page.locator("#from").focus()
    page.keyboard.press("End")
    expect(page.locator("#status")).to_contain_text("recomputed")
    last = page.locator("#from-shown").inner_text()
    own = [one for one in rows if one.row.published[:7] >= last]
    metric = page.locator("#metric").input_value()
    mean = sum(one.scores[metric] for one in own) / len(own)
    bounds = interval([one.scores[metric] for one in own], [one.cluster for one in own]).bounds
    cell = (
        page.locator("#board tbody tr", has=page.get_by_role("rowheader", name="lead")).locator("td").first.inner_text()
    )
    shown = [float(one) for one in re.findall(r"-?\d\.\d{3}", cell)]
    assert shown == pytest.approx([mean, *(bounds or ())], abs=0.0011)
    assert f"n\u00a0{len(own)}" in cell
    page.keyboard.press("Home")
    expect(page.locator("#status")).to_contain_text("all papers")
    assert visit.complaints == []


@pytest.mark.browser
def test_a_sample_in_the_browser(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "samples.html#setting=2026.11_Abs-28K&sample=1")
    page = visit.page
    page.wait_for_selector("#shown h2")
    sample = _data(site / "data" / "samples" / "2026.11_Abs-28K" / "1.js")
    assert page.locator("#shown h2").first.inner_text() == sample["title"]
    # Its paper is made up, so that arXiv has no page of it.
    assert page.locator("#shown a[href^='http']").count() == 0
    assert sample["target"] in page.locator("#shown").inner_text()
    page.get_by_text("Verdicts: who won in each order").first.click()
    assert "Academic Style" in page.locator("table").first.inner_text()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#status")).to_contain_text("Sample 3 of")
    assert "sample=2" in page.url
    page.get_by_label("Setting").select_option("2026.11_Title-10K")
    expect(page.locator("#status")).to_contain_text("Sample 1 of")
    assert visit.complaints == []


@pytest.mark.browser
def test_a_hostile_sample_stays_inert(browser: Any, site: Path) -> None:
    for name in ("index.html", "plots.html", "samples.html#setting=2026.11_Abs-9K&sample=0"):
        visit = Visit(browser, site, name)
        visit.page.wait_for_timeout(300)
        assert "owned" not in visit.page.title()
        assert visit.page.locator("b[onclick], img[src=x], main script").count() == 0
        assert visit.complaints == []
    page = visit.page
    page.locator("summary").evaluate_all("all => all.forEach((one) => one.click())")
    text = page.locator("#shown").inner_text()
    assert text.count("<script>document.title='owned'</script><img src=x") >= 2
    assert "<b onclick=alert(1)>evil" in text
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: \"document.title='owned'\"}))"
    )
    assert "owned" not in page.title()
    assert "Content Security Policy" in " ".join(visit.complaints)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_is_told(width: int, scheme: str, browser: Any, site: Path) -> None:
    for name in ("index.html", "plots.html", "samples.html", "rounds.html", "about.html"):
        visit = Visit(browser, site, name, width, color_scheme=scheme)
        page = visit.page
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.locator("img:not([alt])").count() == 0
        assert page.locator("h1").count() == 1
        assert page.evaluate("[...document.querySelectorAll('select,input')].every((one) => one.labels.length)")
        assert page.evaluate(CONTRAST) >= 4.5, (name, scheme)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert visit.complaints == []


# The least contrast of any text with its ground (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio).
CONTRAST = """() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  let least = 21;
  for (const node of document.querySelectorAll("main *, header *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || node.disabled || !node.offsetParent) continue;
    const [a, b] = [luminance(parse(getComputedStyle(node).color)), luminance(ground(node))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
}"""


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
    "a moment for a day": lambda row: row["doc"].update(published="2026-01-01T00:00:00"),
    "the year 9999999": lambda row: row["doc"].update(published="9999999-01-01"),
    "a list for a round": lambda row: row["doc"].update(round=["2026.11"]),
    "no author": lambda row: row["doc"].update(first_author=None),
    "a number for a target": lambda row: row["doc"].update(target=7),
    "an infinite score": lambda row: row.update(filtered_resps=['{"answer": "a", "scores": {"rouge_l": Infinity}}']),
    "a huge score": lambda row: row.update(filtered_resps=['{"answer": "a", "scores": {"rouge_l": 1e300}}']),
    "slots that are none": lambda row: row["doc"].update(slots=[1]),
    "a slot without end": lambda row: row["doc"]["slots"][0].update(end=-1),
    "tokens that are no count": lambda row: row["doc"].update(tokens_before="many"),
    "a cut that is not a count": lambda row: row["doc"].update(cut_body=1e400),
    "licences that are none": lambda row: row["doc"].update(licenses="all"),
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
    "a run that is none": ("results_lead.json", {"academiceval": {"scores": [{"model": "lead"}], "run": [1]}}),
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


def test_answers_that_repeat_withheld_texts_are_withheld(results: Path, command: Command, tmp_path: Path) -> None:
    """A baseline that copies the paper would publish what its licence forbids."""
    code, out, _ = command("report", results / "lead", "-o", tmp_path / "site", "--licenses", "redistributable")
    assert code == 0
    found = re.search(r"left out: (\d+) of (\d+) answers \(([\d.]+)%\), which repeat more than 25 words in a row", out)
    assert found is not None
    withheld = 0
    for file in (tmp_path / "site" / "data" / "samples").rglob("*.js"):
        sample = json.loads(file.read_text().partition(",")[2].rpartition(")")[0])
        hidden = [one["answer"] is None for one in sample["answers"]]
        withheld += sum(hidden)
        if sample["target"] is not None:
            assert not any(hidden)
        for one in sample["answers"]:
            assert one["answer"] is None or sample["target"] is not None or not copies(one, [])
    assert withheld == int(found[1]) > 0


def test_an_answer_is_withheld_by_its_longest_run() -> None:
    text = " ".join(f"word{i}" for i in range(26))
    measured = {"copied_from_input": 3.0, "copied_from_demonstrations": 0.0}
    assert copies({"answer": text, "scores": {**measured, "copied_from_input": 26.0}}, [])
    assert copies({"answer": text, "scores": {**measured, "copied_from_demonstrations": 26.0}}, [])
    assert copies({"answer": text, "scores": measured}, ["other", f"before {text} after"])
    assert copies({"answer": text, "scores": {}}, [])
    assert not copies({"answer": text, "scores": measured}, ["another text"])
    assert copies({"answer": "\u6587" * 600, "scores": measured}, [])
    assert not copies({"answer": text.rpartition(" ")[0], "scores": {}}, [text])


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    rows = [("=1+1", "+1", "-x", "@y", -0.5, 3, "plain")]
    Sheet(tmp_path).save(Figure(), Plot("p", "t", "a"), ["a"] * 7, rows)
    [_, cells] = csv.reader((tmp_path / "p.csv").read_text().splitlines())
    assert cells == ["'=1+1", "'+1", "'-x", "'@y", "-0.5", "3", "plain"]
