"""Every parser of foreign data, given damaged input: a value or a named error, never anything else.

`FUZZ=N` in the environment sets how many inputs each parser gets (`make fuzz`: 5,000; else 50).
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builder.errors import BuildError, ExtractError
from builder.extract.jats import read_jats
from builder.families.scalar.structured import read_structured
from builder.imports.scalar import read_questions
from builder.imports.writing import import_academiceval
from builder.records import Drop, Paper
from builder.round.model import load_round
from builder.round.takedowns import parse_errata, parse_takedowns
from builder.sources import europepmc
from builder.sources.arxiv import OaiPmh
from builder.sources.arxiv.export_api import ExportApi
from builder.sources.europepmc import paper_of as result_paper
from builder.sources.http_client import DoubtfulAnswer
from builder.sources.jats.front import paper_of as front_of
from builder.sources.jats.markup import read_article
from builder.sources.metadata_file import read_metadata
from builder.sources.sample.world import make_world
from builder.store import Store
from builder.store.tables import StoredAnswer
from hub_scripts.report.inputs import find
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.manifest_file import FORMAT
from lm_eval_tasks.base.text import parse_json
from lm_eval_tasks.families.rounds import parse_manifest
from lm_eval_tasks.judge.verdict import parse
from lm_eval_tasks.samples.block import FORMAT as BLOCK_FORMAT
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.sample import read
from standins import loopback
from standins.jats_world import article, result_of
from tests.builder.sources.test_mirror import KAGGLE
from tests.builder.sources.test_mirror import PLAIN as SHORTER
from tests.faults.cases import questions
from tests.helpers.damage import damaged
from tests.helpers.papers import paper
from tests.helpers.published import REFERENCE, STRUCTURED
from tests.lm_eval_tasks.judge.test_judge import make_samples, verdict

pytestmark = pytest.mark.slow
EXAMPLES = int(os.environ.get("FUZZ", "50"))
fuzzed = settings(
    max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
NAMED = (BuildError, EvalError)
ODD_NUMBERS = [None, True, -1, 0, 10**40, 1e308, float("nan"), float("inf")]
ODD_TEXTS = ["", "x", "\ud800", "\0", "<script>", "=1+1", "\x1b[2J"]
ODD_NAMES = ["../../etc/passwd", "2026-W01", "9" * 5000, "2601.00001v99999999999999999999"]
ODD: list[Any] = [*ODD_NUMBERS, *ODD_TEXTS, *ODD_NAMES, [], {}, [None], {"": None}, [[]] * 3]


# What parsers stumble over: nesting without end, entities, and numbers and characters that are none.
PIECES = [piece * n for piece in (b"[", b"{", b"<a>", b"&a;", b"\0", b"\xed\xa0\x80", b'"\\ud800"') for n in (1, 2000)]
PIECES += [str(10**30).encode(), b"-1", b"1e999", b"NaN"]


def odd_json(content: Any, rng: random.Random) -> bytes:
    """JSON with some values replaced, removed, doubled or moved; or its bytes damaged."""
    content = copy.deepcopy(content)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(content))
        if not places:
            break
        holder, key = rng.choice(places)
        match rng.randrange(4):
            case 0:
                del holder[key]
            case 1:
                holder[key] = [copy.deepcopy(holder[key])]
            case 2:
                holder[key] = copy.deepcopy(rng.choice(places)[0])
            case _:
                holder[key] = copy.deepcopy(rng.choice(ODD))
    data = json.dumps(content).encode()
    return damage(data, rng) if rng.random() < 0.3 else data


def _places(content: Any) -> Any:
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in keys:
        yield content, key
        yield from _places(content[key])


def damage(data: bytes, rng: random.Random) -> bytes:
    return damaged(data, rng, most=4, put_in=PIECES)


def named(call: Callable[[], object]) -> None:
    """Call; a named error is an answer too, of one line."""
    try:
        call()
    except NAMED as err:
        assert str(err)
        assert "\n" not in str(err)


def test_what_is_damaged_is_accepted_whole(tmp_path: Path) -> None:
    """Otherwise every damaged copy would be refused for a fault of the undamaged original."""
    parse_manifest(json.dumps(MANIFEST).encode(), "their manifest")
    for content in (OURS, LM_EVALS):
        (tmp_path / "results_x.json").write_text(json.dumps(content))
        assert read_results(tmp_path / "results_x.json").scores
    judged = make_samples(tmp_path / "judged", 2)
    (judged / "judge_x.json").write_text(json.dumps(JUDGED))
    assert len(find([judged]).verdicts) == 1


@fuzzed
@given(st.randoms(use_true_random=False))
def test_manifests(rng: random.Random) -> None:
    named(lambda: parse_manifest(odd_json(MANIFEST, rng), "their manifest"))


@fuzzed
@given(st.randoms(use_true_random=False))
def test_lists_beside_the_data(rng: random.Random) -> None:
    erratum = {
        "revision": "2026.11",
        "replacement": "2026.11.post1",
        "date": "2026-11-01",
        "reason": "why",
        "papers": ["2601.00001"],
    }
    named(lambda: parse_errata(odd_json(erratum, rng)))
    takedown = {"id": "2601.00001", "date": "2026-11-01", "reason": "why", "revision": "2026.11"}
    named(lambda: parse_takedowns(odd_json(takedown, rng), "their takedowns"))


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_metadata_lines(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "meta.jsonl"
    path.write_bytes(b"\n".join(odd_json(one, rng) for one in (PLAIN, KAGGLE)) + b"\n" + json.dumps(PLAIN).encode())
    with Store.open(Path(":memory:")) as store:
        items = list(read_metadata(path))
        store.add_papers((item for item in items if isinstance(item, Paper)), since="2026.11")
    assert isinstance(items[-1], Paper)


class SamePage:
    """A source that gives the same page whatever it is asked, three times at most."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.asked = 0

    def get(self, url: str, check: Callable[[bytes], None], *, patient: bool = True) -> StoredAnswer:
        self.asked += 1
        try:
            check(self.body)
        except DoubtfulAnswer as doubt:
            raise BuildError("doubtful") from doubt
        if self.asked > 3:
            raise BuildError("more pages than are there")
        return StoredAnswer(200, self.body)


@fuzzed
@given(st.randoms(use_true_random=False))
def test_atom_feeds(rng: random.Random) -> None:
    body = damage(loopback.feed(PAPERS, 3, 0, 2000, {}), rng)

    def search() -> None:
        for item in ExportApi(SamePage(body), "http://127.0.0.1/api").search("au:x"):  # type: ignore[arg-type]
            assert isinstance(item, Paper | Drop)

    named(search)


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_articles(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "article.xml"
    path.write_bytes(damage(ARTICLE, rng))
    with suppress(ExtractError):
        assert isinstance(front_of(read_article(path)), Paper | Drop)
    with suppress(ExtractError):
        document = read_jats(path).document
        for mention in document.mentions:
            assert 0 <= mention.start < mention.end <= len(document.sections[mention.section].text) + 1
            assert set(mention.references) <= set(range(len(document.references)))


@fuzzed
@given(st.randoms(use_true_random=False))
def test_results_of_europe_pmc(rng: random.Random) -> None:
    results = [result_of(one) for one in ARTICLES]
    body = odd_json({"hitCount": 2, "nextCursorMark": "*", "resultList": {"result": results}}, rng)

    def search() -> None:
        for result in europepmc.search(SamePage(body), "http://127.0.0.1/rest", "birds"):  # type: ignore[arg-type]
            assert isinstance(result_paper(result, "birds"), Paper | Drop)

    named(search)


@fuzzed
@given(st.randoms(use_true_random=False))
def test_oai_lists(rng: random.Random) -> None:
    world = SimpleNamespace(comments={})
    records = "".join(loopback._record(world, one) for one in PAPERS)  # type: ignore[arg-type]
    body = damage(loopback._oai(f"<ListRecords>{records}<resumptionToken/></ListRecords>"), rng)

    def listed() -> None:
        for record in OaiPmh(SamePage(body), "http://127.0.0.1/oai").records("cs", date(2026, 1, 1)):  # type: ignore[arg-type]
            assert isinstance(record.item, Paper | Drop)

    named(listed)


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_results_and_verdicts(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "report"
    if not folder.is_dir():
        make_samples(folder, 2)
    # Next to samples that they do not list, results would be refused.
    results = folder.with_name("results_x.json")
    results.write_bytes(odd_json(rng.choice((OURS, LM_EVALS)), rng))
    (folder / "judge_x.json").write_bytes(odd_json(JUDGED, rng))
    named(lambda: read_results(results))
    named(lambda: find([folder]))
    parse(odd_json(json.loads(verdict(1)), rng).decode(errors="replace"))


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_samples_and_journals(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    if not (folder / "rows").is_dir():
        make_samples(folder / "rows", 1)
    [file] = (folder / "rows").glob("*.jsonl")
    row = json.loads(file.read_text())
    (folder / "samples_x.jsonl").write_bytes(odd_json(row, rng))
    named(lambda: read([folder / "samples_x.jsonl"]))
    journal = folder / "journal.jsonl"
    entry = {"key": "k", "value": "an answer", "doc": row["doc"]}
    journal.write_bytes(odd_json(entry, rng) + b"\n" + json.dumps(entry).encode() + b"\n")
    assert Journal(journal)["k"] == "an answer"
    named(lambda: read([journal]))


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_scalars_files(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "q.json"
    path.write_bytes(odd_json(next(questions()), rng))
    named(lambda: list(read_questions(path)))
    path = folder / "p.jsonl"
    path.write_bytes(odd_json(STRUCTURED, rng))
    named(lambda: read_structured(path))


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_the_reference_layout(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "reference"
    (folder / "abs_9K").mkdir(parents=True, exist_ok=True)
    (folder / "abs_9K" / "1.json").write_bytes(odd_json(REFERENCE, rng))
    named(lambda: import_academiceval(folder, folder.with_name("imported")))


@fuzzed
@given(rng=st.randoms(use_true_random=False))
def test_rounds(rng: random.Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "round.toml"
    path.write_bytes(damage(ROUND, rng))
    named(lambda: load_round(path))


@fuzzed
@given(st.randoms(use_true_random=False))
def test_json(rng: random.Random) -> None:
    data = odd_json({"a": [1, "b", {"c": None}]}, rng)
    try:
        content = parse_json(data)
    except ValueError:
        return
    json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


# --- what is damaged

_WRITTEN = make_world(1, 4, 3)[-1]
ARTICLE = article(_WRITTEN).encode()
ARTICLES = [
    replace(paper(i, "Ada Lovelace", "Bo Ek"), id=f"10.5555/x.{i}", doi=f"10.5555/x.{i}", other_ids=(f"PMC{i}",))
    for i in (1, 2)
]
PAPERS = [paper(i, "Ada Lovelace", "Bo Ek", day=i) for i in range(1, 4)]
PLAIN = SHORTER | {"version": 2, "license": "cc-by", "doi": "10.1/x", "comments": "9 pages"}
_HASH = "0123456789abcdef"
_FILE = {"path": f"Abs-9K/test-{_HASH}-00000-of-00001.parquet", "sha256": _HASH * 4, "bytes": 9, "rows": 1, "nbytes": 9}
_STATISTICS = {
    "samples": 1,
    "input_tokens": 9,
    "target_tokens": 9,
    "first": "2026-01-01",
    "last": "2026-01-01",
    "licenses": {"x": 1},
}
MANIFEST = {
    "format": FORMAT,
    "round": "2026.11",
    "code_version": "0.1.0",
    "reports": [],
    "other_files": {"README.md": _HASH * 4},
    "configurations": [
        {
            "name": "Abs-9K",
            "task": "abs",
            "form": "full",
            "of": "",
            "splits": {"test": {"files": [_FILE], "statistics": _STATISTICS}},
        }
    ],
    "split": {"validation_from": "2026-01-01", "test_from": "2026-02-01"},
    "links": {"doi": 1},
    "changes": {"2026.11": "first"},
}
_SCORE = {
    "model": "tiny",
    "task": "academiceval_abs_9k",
    "metric": "rouge_l",
    "value": 0.2,
    "low": 0.1,
    "high": 0.3,
    "samples": 9,
}
OURS = {
    "academiceval": {
        "format": BLOCK_FORMAT,
        "rounds": ["2026.11"],
        "prompt_versions": [1],
        "scores": [_SCORE],
        "run": {"model": "hf", "metadata": {"dataset": "org/x"}, "model_cutoff": "2026-01"},
    }
}
LM_EVALS = {
    "results": {"academiceval_abs_9k": {"alias": "x", "rouge_l,score": 0.25, "rouge_l_stderr,score": 0.01}},
    "configs": {"academiceval_abs_9k": {"metadata": {"dataset": "org/x", "dataset_revision": "2026.11"}}},
    "n-samples": {"academiceval_abs_9k": {"original": 9, "effective": 4}},
    "model_name": "org/tiny",
}
JUDGED = {
    "judged_model": "x",
    "round": "2026.11",
    "verdicts": {"Abs-9K": {"2605.00000v1": {"m": [{"Overall Winner": 1}, None], "n": "empty"}}},
    "texts": {"Abs-9K": {"2605.00000v1": "0" * 64}},
}
ROUND = (
    b'round = "2026.11"\nseed = 7\nsettings = ["Abs-9K"]\n[source]\nkind = "sample"\nauthors = 20\npapers = 50\n[split]\n'
    b'validation = 0.2\ntest = 0.25\n[audit]\nlong_run = 0.1\n[papers]\ncategories = ["cs.CL"]\npublished_to = 2026-10-31\n'
)
