"""Recall: spans of texts, the paragraphs that state them, and what stands around these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builder.families import recall
from builder.families.reading.columns import reading_faults
from builder.families.recall.filler import fill, fillers_of
from builder.families.recall.spans import candidates, key_of, stated, words_of
from builder.families.recall.texts import AskedText, PaperText, Paragraph, asked_texts, placed
from builder.families.registry import read_rows
from builder.stage_report import StageReport
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.recall import ALONE, Recall
from lm_eval_tasks.families.recall import PLACES as AT_PLACES
from lm_eval_tasks.families.recall.prompt import prompt_of, target_of
from lm_eval_tasks.families.recall.recall_row import RecallRow
from lm_eval_tasks.families.rounds import read_manifest
from standins.places import table_beside
from tests.helpers.papers import paper
from tests.helpers.recall import recall_round

_SPANS = table_beside(__file__, "spans.json")


def spans(text: str, told: str = "") -> list[str]:
    return [span.text for span in candidates(text, lambda key: True, words_of(told).keys()) if span.kind != "word"]


@pytest.mark.parametrize(("text", "found"), _SPANS)
def test_spans_are_numbers_and_names(text: str, found: list[str]) -> None:
    assert spans(text) == found


def test_what_the_question_tells_is_no_span() -> None:
    assert spans("ReLU gains 0.12 on MNIST.", told="A ReLU for 0.12") == ["MNIST"]


def test_case_hyphens_plurals_and_blanks_do_not_count() -> None:
    assert len({key_of(text) for text in ("Auto-Encoders", "autoencoder", "AutoEncoder")}) == 1
    assert key_of("12.5 %") == key_of("12.5%")
    assert key_of("ReLU") in words_of("a relu, and two ReLUs")
    assert words_of("Two ReLUs and a ReLU.")[key_of("ReLU")] == 2


def test_numbers_are_sought_wherever_they_stand() -> None:
    for text in ("90-95%", "/95%", "95 percent", "95 per cent", "95\u00a0%", "95\\%", "(95%)"):
        assert key_of("95%") in words_of(text), text
    for text in (".85", "0.85", "(.85)", "0.85x"):
        assert key_of(".85") in words_of(text), text
    counts = words_of("403 of {0.1,0.5,0.9}, 90,95% and 1,000")
    assert {"403": 1, "0.5": 1, "95%": 1, "1000": 1}.items() <= counts.items()
    assert key_of("autoencoder") in words_of("auto‑encoder")
    assert spans("(95.2%) of 12.5\u00a0%") == ["95.2%", "12.5\u00a0%"]
    assert spans("All 100% of 200 items.", told="100 Fabricated Citations") == ["200"]


def test_a_span_counts_if_a_sentence_states_it() -> None:
    text = "The tuned sieve reaches 12.43 points on ZyabNet. Nothing else was 0.77 here."
    asked = candidates(text, lambda key: True, ())
    evidence = [
        "Our tuned sieve reaches many points: 12.43. On ZyabNet, others.",
        "It was 0.77 as we saw in ZyabNet points.",
    ]
    assert [(span.text, times) for span, times in stated(text, asked, evidence) if span.kind == "number"] == [
        ("12.43", 1)
    ]


@pytest.mark.parametrize(
    ("heading", "asked"),
    [
        ("2 Method", ["abstract"]),
        ("2 Conclusion", ["abstract", "conclusion"]),
        ("Discussion", ["abstract", "discussion"]),
    ],
)
def test_only_a_paper_with_a_conclusion_is_asked_for_one(heading: str, asked: list[str]) -> None:
    said = "The tuned sieve reaches 12.43 points on ZyabNet with 313 rows of LoRA."
    sections = [("1 Introduction", f"We show more. {said}"), (heading, f"So it ends. {said}")]
    text = f"A Sieve\nAbstract\n{said}\n" + "".join(f"{name}\n{words}\n" for name, words in sections)
    shown = SimpleNamespace(text=text, sections={i: text.index(words) for i, (_, words) in enumerate(sections)})
    shown.references = len(text)
    parts = [SimpleNamespace(heading=name, text=words, role="body") for name, words in sections]
    document = SimpleNamespace(sections=parts)
    read: Any = SimpleNamespace(shown=shown, document=document, paper=paper(1, title="A Sieve"))
    assert [each.section for each in asked_texts(PaperText(read), lambda key: True)] == asked


def _asked(paper: str, section: str = "abstract") -> AskedText:
    return AskedText(paper, section, 0, 1, (), (), frozenset())


def test_each_kind_of_text_has_its_evidence_at_each_place_as_often() -> None:
    texts = [_asked(str(i), section) for i in range(30) for section in ("abstract", "conclusion")]
    places = placed(texts, lambda asked: asked.paper.encode())
    for section in ("abstract", "conclusion"):
        counts = Counter(place for asked, place in places.items() if asked.section == section)
        assert set(counts.values()) == {10}


def test_fillers_are_older_and_by_other_people() -> None:
    own = paper(10, "Ann Doe", "Bo Roe", day=30)
    others = [
        own,
        paper(1, "Cy Poe", day=1),
        paper(2, "Ed Foe", day=40),
        paper(3, "Bo Roe", day=1),
        paper(4, "Di Loe", "Bo Roe", day=1),
        paper(5, "Di Loe", day=1),
    ]
    # Of 5, a co-author wrote with one of the authors.
    shown = {other.id for other in others}
    assert [other.id for other in fillers_of(own, others, shown, 0)] == ["2601.00001"]
    # What may not be shown tells co-authors all the same.
    assert [other.id for other in fillers_of(own, others, shown - {"2601.00004"}, 0)] == ["2601.00001"]
    assert fillers_of(own, others, set(), 0) == []


class _Text:
    """Paragraphs of ten tokens."""

    def __init__(self, name: str, count: int) -> None:
        self.paragraphs = [Paragraph(i, 12 * i, 12 * i + 10, "", Counter([f"{name}{i}"]), 10) for i in range(count)]
        self.tokens = [10] * count
        self.read: Any = type("Read", (), {"paper": type("Paper", (), {"id": name})})


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_larger_context_has_all_of_a_smaller_one_at_its_outer_ends(place: Any) -> None:
    def papers() -> Iterator[Any]:
        return iter([_Text(name, 7) for name in "abcd"])

    known = [fill(_asked("x"), place, papers(), least=0, most=most) for most in (35, 75, 270)]
    for small, large in pairwise(known):
        assert small and large
        assert large.before[: len(small.before)] == small.before
        assert large.behind[: len(small.behind)] == small.behind
        assert len(large.before) + len(large.behind) > len(small.before) + len(small.behind)
        assert bool(large.before) == (place != "first")
        assert bool(large.behind) == (place != "last")
        # Read in the papers' own order.
        assert all(numbers == sorted(numbers) for runs in large.runs() for _, numbers in runs)
    # Paragraphs end before they are enough, or when they are.
    assert fill(_asked("x"), place, papers(), least=281, most=290) is None
    assert fill(_asked("x"), place, papers(), least=280, most=290) is not None
    # What stands in place of the evidence stands there once.
    [(_, first)] = (known[0].before or known[0].behind)[:1] if known[0] else [("", 0)]
    apart = fill(_asked("x"), place, papers(), least=0, most=75, replacing=[("a", first)])
    assert apart and ("a", first) not in [*apart.before, *apart.behind]
    # The evidence leaves no room, or a paragraph leaves too much.
    assert fill(_asked("x"), place, papers(), least=-20, most=-10) is None
    assert fill(_asked("x"), place, papers(), least=-10, most=0) is not None
    assert fill(_asked("x"), place, papers(), least=75, most=79) is None


def test_a_row_is_excluded_by_its_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One of a paper's two texts is excluded, and one place of another text; neither id is reported as unknown."""
    written: list[str] = []
    writer = SimpleNamespace(add=lambda _, row: written.append(row["id"]), close=lambda: None)
    monkeypatch.setattr(recall, "ConfigurationWriter", lambda *_: writer)
    texts = [AskedText("p1", section, 0, 9, (), (0,), (0,)) for section in ("abstract", "conclusion")]

    def rows_without(configuration: Recall, *excluded: str) -> StageReport:
        written.clear()
        round_ = SimpleNamespace(
            places=dict.fromkeys(texts, "first"),
            workspace=SimpleNamespace(round_=SimpleNamespace(excluded=frozenset(excluded))),
            papers={"p1": SimpleNamespace(versioned_id="p1v1")},
            report=StageReport("recall"),
            row=lambda *_: {},
        )
        _, [report] = recall._write(configuration, round_, tmp_path)  # type: ignore[arg-type]
        assert report.examples is not round_.report.examples
        return report

    report = rows_without(ALONE, "p1v1#abstract")
    assert (written, report.examples["excluded"], report.kept) == (["p1v1#conclusion"], ["p1v1#abstract"], 1)
    report = rows_without(AT_PLACES, "p1v1#abstract-first")
    assert (len(written), report.examples["excluded"]) == (5, ["p1v1#abstract-first"])
    assert rows_without(AT_PLACES, "p1v1#abstract", "p1v1#conclusion").kept == 0


@pytest.mark.slow
def test_the_rows_of_a_round(recalled: Path) -> None:
    manifest = read_manifest(recalled)
    rows: dict[str, dict[str, RecallRow]] = {}
    texts: dict[tuple[str, str], str] = {}
    for configuration in manifest.configurations:
        of_one = list(read_rows(recalled, configuration, "test"))
        if configuration.name == "Papers":
            texts |= {("Papers", row["id"]): row["text"] for row in of_one}
        elif configuration.task == "recall":
            rows[configuration.name] = {row["id"]: typed(RecallRow, row) for row in of_one}
    assert rows.keys() == {
        *("Recall-Alone", "Recall-4K", "Recall-8K", "Recall-Places-8K"),
        *("Recall-Without", "Recall-Without-8K"),
    }
    assert len(rows["Recall-Alone"]) >= 24
    assert len(rows["Recall-Places-8K"]) == 3 * len(rows["Recall-8K"])
    for id_, row in rows["Recall-8K"].items():
        target = target_of(row, texts)
        prompts = {name: prompt_of(of_one[id_], texts) for name, of_one in rows.items() if id_ in of_one}
        alone, without = prompts["Recall-Alone"], prompts["Recall-Without"]
        assert row.place == rows["Recall-4K"][id_].place
        for span in row.spans:
            said = target[span.start : span.end]
            assert said in alone
            # A search of its own, for which "202" is no part of "2023": nowhere around the evidence, and nowhere without it.
            sought = re.compile(rf"(?<!\d){re.escape(said)}(?!\d)", re.IGNORECASE)
            for name in ("Recall-4K", "Recall-8K"):
                assert len(sought.findall(prompts[name])) == len(sought.findall(alone))
            assert not sought.search(without)
            assert not sought.search(prompts["Recall-Without-8K"])
        assert len(alone) < len(prompts["Recall-4K"]) < len(prompts["Recall-8K"])
    # Nor does the audit find anything in what stands around.
    assert not any(reading_faults(recalled, manifest.configurations).values())


@pytest.mark.long
def test_a_round_too_small_for_a_size_says_so(tmp_path: Path) -> None:
    manifest = read_manifest(recall_round(tmp_path, ["512K"]))
    sizes = {configuration.name: configuration.samples for configuration in manifest.configurations}
    assert sizes["Recall-Alone"] >= 24
    assert sizes["Recall-512K"] == sizes["Recall-Without-512K"] == 0
