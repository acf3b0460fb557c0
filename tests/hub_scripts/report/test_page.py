"""How the results page behaves in a browser."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from hub_scripts.report.cells import LABELS, TASK_LABELS
from hub_scripts.report.runs import ModelFacts, RunFacts
from hub_scripts.report.site import render
from hub_scripts.report.standings import Standing, Standings
from lm_eval_tasks.base.intervals import Interval
from tests.hub_scripts.report.conftest import handed

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CONTRAST = Path(__file__).with_name("contrast.js").read_text()
PAGES = ("index.html", "plots.html", "samples.html", "rounds.html", "about.html")


# Not every violation is a line of the console.
_TELL_OF_POLICY = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`))"""


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:  # its own event loop must not run yet when the site is made
    """A headless Chromium; without one, the test is skipped."""
    with sync_playwright() as play:
        try:
            opened = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        except Error:
            pytest.skip("no Chromium here; Debian's package `chromium` is one")
        yield opened
        opened.close()


class Visit:
    """One page of a site, opened from disk, and what went wrong in it.

    Attributes:
        complaints: console errors, script errors, what the content security policy stopped, and requests that left the disk.
    """

    def __init__(self, browser: Any, site: Path, name: str, width: int = 1280, **context: Any) -> None:
        self.page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type in ("error", "warning"), message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._note(not request.url.startswith("file://"), request.url))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.add_init_script(_TELL_OF_POLICY)
        self.page.goto(f"{(site / name.partition('#')[0]).as_uri()}#{name.partition('#')[2]}")

    def _note(self, wrong: bool, text: str) -> None:
        if wrong:
            self.complaints.append(text)


def _rows(site: Path) -> list[dict[str, str]]:
    """The rows of the table of scores, in its order."""
    return list(csv.DictReader((site / "data" / "scores.csv").read_text().splitlines()))


def _numbers(text: str) -> list[float]:
    """The numbers of a cell."""
    return [float(number.replace(",", "")) for number in re.findall(r"[-+]?[\d,]*\.?\d+", text)]


def _column(table: Any, name: str) -> list[str]:
    """The texts of a column, without what stands below a model's name."""
    heads = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    cells = table.locator(f"tbody tr > :nth-child({heads.index(name) + 1})").all_inner_texts()
    return [text.split("\n")[0].strip() for text in cells]


def _sort(table: Any, name: str, direction: str = "ascending") -> None:
    """Click the head of a column, and wait until the table is sorted by it."""
    head = table.locator("thead th", has_text=re.compile(rf"^\s*{re.escape(name)}\s*$"))
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", direction)


def test_sort_and_filter(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "index.html")
    page, board = visit.page, visit.page.locator("#scores")
    rows = _rows(site)
    page.wait_for_selector("#filters:not([hidden])")

    def shown() -> list[tuple[str, str, str, str]]:
        models = [text.removesuffix(" baseline") for text in _column(board, "Model")]
        return list(zip(models, *(_column(board, name) for name in ("Setting", "Score", "Task")), strict=True))

    def wanted(**of: str) -> list[tuple[str, str, str, str]]:
        kept = [row for row in rows if all(row[name] == value for name, value in of.items())]
        return [(row["model"], row["setting"], LABELS[row["metric"]], TASK_LABELS[row["task"]]) for row in kept]

    # First one task and one metric of the newest round, in the order of the spreadsheet.
    first = rows[0]
    assert shown() == wanted(task=first["task"], metric=first["metric"], round=first["round"])
    page.locator("[data-column=task]").select_option("Abstract")
    page.locator("[data-column=metric]").select_option("ROUGE-L")
    assert len(wanted(task="abs", metric="rouge_l")) > 4
    expect(board.locator("tbody tr")).to_have_count(len(wanted(task="abs", metric="rouge_l")))
    assert shown() == wanted(task="abs", metric="rouge_l")
    _sort(board, "Value")
    values = [_numbers(text)[0] for text in _column(board, "Value")]
    assert values == sorted(values)
    page.keyboard.press("Enter")
    expect(board.locator("thead th[aria-sort=descending]")).to_contain_text("Value")
    assert [_numbers(text)[0] for text in _column(board, "Value")] == sorted(values, reverse=True)
    assert sorted(shown()) == sorted(wanted(task="abs", metric="rouge_l"))
    page.locator("#search").fill("COPY")
    expect(board.locator("tbody tr")).to_have_count(len(wanted(task="abs", metric="rouge_l", model="copy-demo")))
    assert set(_column(board, "Model")) == {"copy-demo baseline"}
    page.locator("#search").fill("nobody")
    expect(board.locator("tbody")).not_to_contain_text("copy-demo")
    page.locator("#search").fill("")
    for name in ("task", "metric", "round"):
        page.locator(f"[data-column={name}]").select_option("all")
    expect(board.locator("tbody tr")).to_have_count(len(rows))
    assert visit.complaints == []


def test_without_javascript_every_score_is_there(browser: Any, site: Path) -> None:
    page = Visit(browser, site, "index.html", java_script_enabled=False).page
    assert page.locator("#scores tbody tr").count() == len(_rows(site))
    assert not page.locator("#filters").is_visible()


def test_scores_apart_are_what_python_computed(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "index.html")
    page, board = visit.page, visit.page.locator("#scores")
    steps, rows = handed(site / "data" / "splits.js"), _rows(site)
    assert len(steps["splits"]) > 1
    page.locator("[data-column=task]").select_option("Abstract")
    page.locator("[data-column=metric]").select_option("all")
    whole = [row for row in rows if row["task"] == "abs"]
    expect(board.locator("tbody tr")).to_have_count(len(whole))
    heads = {"Value", "n", "Earlier or shorter", "Later or longer"}

    def columns() -> set[str]:
        return heads & {text.strip() for text in board.locator("thead th").all_inner_texts()}

    assert columns() == {"Value", "n"}
    values = _column(board, "Value")
    assert [_numbers(text)[0] for text in values] == pytest.approx([float(row["value"]) for row in whole], abs=5e-4)
    for number, split in enumerate(steps["splits"]):
        page.locator("#split").select_option(str(number + 1))
        expect(page.locator("#split option:checked")).to_contain_text(split)
        assert columns() == {"Earlier or shorter", "Later or longer"}
        texts = [steps["rows"][i][number] for i, row in enumerate(rows) if row["task"] == "abs"]
        shown = zip(_column(board, "Earlier or shorter"), _column(board, "Later or longer"), strict=True)
        assert [list(pair) for pair in shown] == texts
    # Filters still hold, and what is shown can be sorted.
    _sort(board, "Later or longer")
    sorted_ = [_numbers(text)[0] for text in _column(board, "Later or longer")]
    assert sorted_ == sorted(sorted_)
    page.locator("#search").fill("copy-demo")
    expect(board.locator("tbody tr")).to_have_count(sum(row["model"] == "copy-demo" for row in whole))
    page.locator("#search").fill("")
    page.locator("#split").select_option("0")
    assert columns() == {"Value", "n"}
    assert sorted(_column(board, "Value")) == sorted(values)
    assert visit.complaints == []


def _standing(number: int, at: float) -> Standing:
    """A made-up model whose figures have as many digits and signs as there may be."""
    over = Interval(at, at - 0.05, at + 0.05, None, 40, 40)
    gain = None if number == 3 else Interval(-at, -at - 0.1, -at + 0.1, None, 40, 40)
    return Standing(
        f"model {number}",
        number,
        12,
        over,
        {"abs": at},
        (),
        (),
        10**number % 99_999,
        gain,
        None,
        None,
        is_baseline=False,
    )


@pytest.fixture(scope="module")
def twelve(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a board of twelve made-up models."""
    place = tmp_path_factory.mktemp("twelve")
    at = [0.4 - 0.075 * number for number in range(12)]
    standings = tuple(_standing(number + 1, one) for number, one in enumerate(at))
    runs = {
        ("2026.11", one.model): RunFacts(
            "2026-11-20", 10.0 ** (number % 7), 5.0, None if number == 4 else 1.5**number, "x", ("a", "b")
        )
        for number, one in enumerate(standings)
    }
    board = Standings("2026.11", "Writing", ("rouge_l_content",), ("Abs-9K",), standings, {})
    facts = {one.model: ModelFacts() for one in standings}
    context = {"page": "index.html", "boards": [[board]], "labels": LABELS, "tasks": TASK_LABELS, "about": facts}
    names = ("off_board", "plots", "rows", "groups", "splits", "made_up", "scorers", "cutoffs")
    empty = dict.fromkeys(names, ())
    (place / "index.html").write_text(render("index.html", **context, **empty, runs=runs, has_rounds=False))
    for name in ("site.css", "tables.js", "datatables.js"):
        shutil.copy(site / name, place)
    (place / "data").mkdir()
    shutil.copy(site / "data" / "splits.js", place / "data")
    return place


def test_a_board_says_which_models_a_server_was(twelve: Path) -> None:
    assert (twelve / "index.html").read_text().count("answered as a, b") == 12


def test_columns_are_sorted_by_their_numbers(browser: Any, twelve: Path) -> None:
    """Whatever stands behind a number, in whichever form it is shown, and where some have none."""
    visit = Visit(browser, twelve, "index.html")
    board = visit.page.locator("table.overall")
    expect(board.get_by_role("button")).to_have_count(9)
    wrong = []
    for name in ("Rank", "Writing", "Abstract", "Gain", "n", "Tokens", "Cost/1,000"):
        for direction in ("ascending", "descending"):
            _sort(board, name, direction)
            numbers = [_numbers(text)[0] for text in _column(board, name) if text != "–"]
            assert len(numbers) >= 11
            wrong += [(name, numbers)] if numbers != sorted(numbers, reverse=direction == "descending") else []
    assert wrong == []
    assert visit.complaints == []


def test_a_sample_in_the_browser(browser: Any, site: Path) -> None:
    visit = Visit(browser, site, "samples.html#setting=2026.11_Abs-28K&sample=1")
    page = visit.page
    page.wait_for_selector("#shown h2")
    sample = handed(site / "data" / "samples" / "2026.11_Abs-28K" / "1.js")
    assert page.locator("#shown h2").first.inner_text() == sample["title"]
    # Its paper is made up, so that arXiv has no page of it.
    assert page.locator("#shown a[href^='http']").count() == 0
    assert sample["target"] in page.locator("#shown").inner_text()
    for answer, card in zip(sample["answers"], page.locator("section.card").all(), strict=False):
        beside, prompt = card.locator("p.detail").first.inner_text(), sample["prompts"][answer["prompt"]]
        assert str(next(iter(answer["scores"].values()))) in beside
        assert not prompt["tokens_before"] or f"{prompt['tokens_after']} of {prompt['tokens_before']}" in beside
    page.get_by_text("Verdicts: who won in each order").first.click()
    assert "Academic Style" in page.locator("table").first.inner_text()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#status")).to_contain_text("Sample 3 of")
    assert "sample=2" in page.url
    page.get_by_label("Setting").select_option("Title-10K, round 2026.11")
    expect(page.locator("#status")).to_contain_text("Sample 1 of")
    assert visit.complaints == []


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


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_fits_and_is_told(width: int, scheme: str, browser: Any, site: Path) -> None:
    ending = "-narrow" * (width < 600) + "-dark" * (scheme == "dark") + ".svg"
    for name in PAGES:
        visit = Visit(browser, site, name, width, color_scheme=scheme)
        page = visit.page
        page.wait_for_timeout(200)
        assert page.locator("img:not([alt])").count() == 0
        assert page.locator("h1").count() == 1
        assert page.evaluate("[...document.querySelectorAll('select,input')].every((one) => one.labels.length)")
        assert page.evaluate(CONTRAST) >= 4.5, (name, scheme)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        # As much as the page can show at once.
        page.locator("details:not([open]) > summary").evaluate_all("all => all.forEach((one) => one.click())")
        if name == "index.html":
            for select in page.locator("#filters select[data-column]").all():
                select.select_option("all")
            page.locator("#split").select_option("1")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        pictures = page.evaluate(PICTURES)
        assert all(width_ > 0 and source.endswith(ending) for source, width_ in pictures), pictures
        assert bool(pictures) == (name == "plots.html")
        assert visit.complaints == []


# Where each picture comes from, and how wide it is by itself: 0 if it could not be drawn.
PICTURES = """async () => {
  const pictures = [...document.querySelectorAll("img")];
  pictures.forEach((one) => { one.loading = "eager"; });
  await Promise.allSettled(pictures.map((one) => one.decode()));
  return pictures.map((one) => [one.currentSrc, one.naturalWidth]);
}"""
