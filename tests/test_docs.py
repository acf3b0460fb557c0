"""What the documents say exists."""

from __future__ import annotations

import csv
import json
import math
import re
import runpy
import shlex
from dataclasses import fields
from importlib.metadata import version
from itertools import accumulate, pairwise
from statistics import fmean
from types import UnionType
from typing import get_args, get_origin

import pytest
import yaml
from lm_eval._cli.harness import HarnessCLI
from pydantic import BaseModel

from builder import cli
from builder.round.model import Round
from docs import key_page, option_page
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.metadata import check
from lm_eval_tasks.families import configuration_of, of_task
from lm_eval_tasks.families.registry import FAMILIES, METRICS
from lm_eval_tasks.families.scalar import ALL_LEVELS
from lm_eval_tasks.families.writing.settings import SETTINGS
from lm_eval_tasks.inspect_tasks import TASKS
from lm_eval_tasks.tasks import yaml_files
from lm_eval_tasks.tasks.catalogue import TASKS as ALL_TASKS
from lm_eval_tasks.tasks.catalogue import check_tasks, task_names
from tests.helpers.pages import PAGES, ROOT, blocks
from tests.test_round_zero import texts


def keys(model: type[BaseModel], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for name, field in model.model_fields.items():
        kinds = get_args(field.annotation) if get_origin(field.annotation) is UnionType else (field.annotation,)
        tables = [one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)]
        for table in tables:
            found |= keys(table, f"{name}.")
        if not tables:
            found.add(prefix + name)
    return found


def test_the_page_of_keys_is_that_of_the_models() -> None:
    lines = list(key_page.key_page())
    assert not any("Annotated" in line for line in lines), "a key without a type"
    rows = [line.split("|") for line in lines if line.startswith("| `")]
    assert all(meaning.strip() for *_, meaning, _ in rows), "a key without a meaning"
    named = {row[1].strip(" `") for row in rows}
    assert all(any(key == name or key.startswith(f"{name}.") for key in named) for name in keys(Round))


def test_every_command_shown_exists() -> None:
    commands = cli.all_commands().parsers
    for page in PAGES:
        for name in re.findall(r"^\s*academiceval ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert name in commands, (page.name, name)
    shown = "\n".join(page.read_text() for page in PAGES)
    for name in commands:
        assert re.search(rf"academiceval {name}\b|`{name}`", shown), name


def _shown(program: str) -> list[tuple[str, str]]:
    """The page and text of each command of a program in a fenced block, without the environment that it is given."""
    return [
        (block.page, re.split(r" >| \|", found[1])[0].strip())
        for page in PAGES
        for block in blocks(page)
        for line in block.commands
        if (found := re.match(rf"(?:[A-Z_]+=\S+ |.*&& )*({program} [a-z-].*)", line))
    ]


@pytest.mark.parametrize(("page", "line"), _shown("academiceval"))
@pytest.mark.slow
def test_every_command_shown_can_be_typed(page: str, line: str) -> None:
    arguments = cli.all_commands().parse(shlex.split(line)[1:])
    check_tasks(filter(None, getattr(arguments, "tasks", "").split(",")))
    check(json.loads(getattr(arguments, "metadata", "{}")))


def test_every_command_in_a_sentence_can_be_typed() -> None:
    """Those that end with the name of an option are about that option."""
    lines = {line for page in PAGES for line in re.findall(r"`(academiceval [a-z-]+ [^`]*[^`\s])`", page.read_text())}
    found = [line for line in lines if not line.split()[-1].startswith("--")]
    assert found
    for line in found:
        cli.all_commands().parse(shlex.split(line)[1:])


@pytest.mark.parametrize(("page", "line"), _shown("lm_eval"))
def test_every_lm_eval_command_shown_can_be_typed(page: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", shlex.split(line))
    arguments = HarnessCLI().parse_args()
    check_tasks(arguments.tasks if isinstance(arguments.tasks, list) else arguments.tasks.split(","))
    check(arguments.metadata or {})


@pytest.mark.parametrize(("page", "line"), _shown("inspect eval"))
def test_every_inspect_command_shown_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line)
    assert words[2].removeprefix("academiceval/") in TASKS
    check(
        {key: value for option, given in pairwise(words) if option == "-T" for key, _, value in [given.partition("=")]}
    )


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target.startswith("https://") or (page.parent / target).exists(), (page.name, target)


def test_the_readme_begins_with_the_two_commands() -> None:
    block = (ROOT / "README.md").read_text().split("```")[1]
    assert [line.split("#")[0].strip() for line in block.strip().splitlines()] == ["make demo", "make test"]


def test_every_field_of_the_manifest_is_explained() -> None:
    explained = (Manifest.__doc__ or "").partition("Attributes:")[2]
    for field in fields(Manifest):
        assert re.search(rf"^ *{field.name}: ", explained, re.MULTILINE), field.name


def test_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert citation["version"] == version("academiceval")
    assert f"\n## {version('academiceval')} (" in changes


def test_files_that_are_named_exist() -> None:
    for page in PAGES:
        for name in re.findall(
            r"`((?:builder|lm_eval_tasks|hub_scripts|tests|docs|benchmarks)/[\w./-]*)`", page.read_text()
        ):
            assert (ROOT / name).exists(), (page.name, name)


def test_the_page_of_options_is_that_of_the_code() -> None:
    text = "\n".join(option_page.option_page())
    for metric in METRICS:
        assert option_page.meaning_of(metric), metric.name
        assert f"`{metric.name}`" in text, metric.name


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/reliability.md"])
def test_every_test_that_a_promise_names_exists(page: str) -> None:
    names = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / page).read_text())
    assert names
    for file, name in names:
        assert re.search(rf"^(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{name}"


def test_tables_of_results_in_the_docs_are_what_their_samples_give() -> None:
    place = ROOT / "docs" / "results"
    module = runpy.run_path(str(place / "tables.py"))
    tables = module["tables"]()
    for name, content in tables.items():
        assert (place / name).read_text(encoding="utf-8") == content
    for page, text in module["pages"](tables).items():
        assert page.read_text(encoding="utf-8") == text


def test_a_run_of_some_rows_says_of_how_many_in_the_docs() -> None:
    answers = runpy.run_path(str(ROOT / "docs" / "results" / "page_tables.py"))["answers"]
    row = {"papers": "new", "task": "t", "model": "m", "metric": "x", "rows": "24", "of": "57", "best program": ""}
    *_, line = answers({"scores.csv": [{**row, "score": "0.5", "low": "", "high": ""}]}, ["new"], ["x"])
    assert line.startswith("| t, new | 24 of 57 |")


def test_examples_are_of_the_prompts_that_are_asked() -> None:
    files = sorted((ROOT / "docs" / "examples").glob("*.txt"))
    shown = {of_task(configuration_of(file.stem).task).name for file in files}
    assert shown == {family.name for family in FAMILIES}
    for file in files:
        head, _, text = file.read_text(encoding="utf-8").partition("\n\n")
        family = of_task(configuration_of(file.stem).task)
        assert head == f"=== {file.stem}, prompt version {family.version} ==="
        prompt, _, answer = text.partition("=== The authors' text, or the right answer ===")
        assert len(prompt.split()) > 500
        assert answer.strip()


def test_p_values_in_the_docs_are_those_of_the_whole_table() -> None:
    with (ROOT / "docs" / "results" / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            tuple(float(row[name]) for name in ("low", "high", "p (Holm)"))
            for row in csv.DictReader(file)
            if row["p (Holm)"]
        ]
    claims = re.findall(
        r"\[(-?[\d.]+), (-?[\d.]+)\], p\s\(Holm\)\s=\s([\d.]+)\)", (ROOT / "docs" / "results.md").read_text()
    )
    assert claims
    for low, high, p in claims:
        [known] = [row[2] for row in rows if row[:2] == pytest.approx((float(low), float(high)), abs=6e-4)]
        assert f"{known:.{len(p) - 2}f}" == p


def test_bits_of_spans_follow_from_the_published_tokens() -> None:
    compared = 0
    for file in (ROOT / "docs" / "results" / "new-pdf").rglob("samples_*.jsonl"):
        for line in map(json.loads, file.read_text().splitlines()):
            [[tokens]] = line["resps"]
            ends = list(accumulate(tokens["counts"]))
            bits = [
                sum(-log / math.log(2) for log, end, count in zip(tokens["logs"], ends, tokens["counts"], strict=True)
                    if count and end > first and end - count < last)
                for (first, _, last), span in zip(line["span_bytes"], line["doc"]["own"]["spans"], strict=True) if span["kind"] != "word"
            ]  # fmt: skip
            if bits and "span_bits" in line and 0 not in tokens["counts"]:
                assert line["span_bits"] == pytest.approx(fmean(bits), abs=1e-3)
                compared += 1
    assert compared > 500


def test_results_in_the_docs_carry_no_text_of_a_paper() -> None:
    """Those over made-up papers aside: names, labels and numbers alone."""
    labels = re.compile(r"\b(?:Passage|Paper|Mask|Candidate) \d+")
    files = [file for file in (ROOT / "docs" / "results").rglob("samples_*.jsonl") if "anchor" not in file.parts]
    assert files
    for file in files:
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            line["doc"].pop("first_author")
            answers = [json.loads(text)["answer"] for text in line.pop("filtered_resps")]
            for text in texts([line, answers]):
                assert not re.search(r"(?:[a-z]{3,} ){3}", labels.sub("", text).lower()), (file, text[:80])


def test_every_task_stands_in_the_docs() -> None:
    names = ("evaluate", "scalar", "reading", "recall")
    pages = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in names}
    for setting in SETTINGS:
        assert f"`{setting.name.lower().replace('-', '_')}`" in pages["evaluate"]
    before = pages["evaluate"].partition("## Prompts")[0]
    assert set(re.findall(r"`(academiceval(?:_[a-z]+)?)`", before)) <= set(task_names())
    text = "".join(pages.values())
    slugs = {task.name.removeprefix("academiceval_") for task in ALL_TASKS if not task.alias}
    named = set(re.findall(r"`(?:academiceval_)?(\w+)`", text))
    # For recall the pages name each size once; for SCALAR they name the configurations.
    written = {slug for slug in slugs if not slug.startswith(("recall", "scalar", "cloze"))}
    assert written <= named
    assert {level.name for level in ALL_LEVELS} <= set(re.findall(r"`([\w-]+)`", text))


def test_make_tasks_changes_nothing() -> None:
    """What is written from the code is as the code has it."""
    written = yaml_files.contents()
    assert not list(yaml_files.left_over(written))
    written[key_page.PAGE] = "\n".join(key_page.key_page()) + "\n"
    written[option_page.PAGE] = "\n".join(option_page.option_page())
    assert [path for path, text in written.items() if path.read_text() != text] == []
