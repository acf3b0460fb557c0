"""SCALAR: citations, questions, prompts, imports, and a round that has them."""

from __future__ import annotations

import json
import lzma
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from datasets import get_dataset_config_names, load_dataset

from benchmarks import scalar as benchmark
from builder.dataset.publishable import publishable
from builder.errors import SourceError
from builder.families.scalar.annotate import ask_model
from builder.families.scalar.citation_classifier import CitationInText, is_single, types_of
from builder.families.scalar.questions import (
    CANDIDATES,
    ClozeQuestion,
    QuestionMaker,
    ask_all,
    balance_positions,
    citation_in_text,
    turn_of,
)
from builder.families.scalar.shown import MOST_CHARACTERS, candidate, question, whole_mention
from builder.families.scalar.structured import read_structured
from builder.ids import bare_id
from builder.records import Cited, Citing, Document, Mention, Paper, Reference, Section
from builder.seeding import row_order
from builder.store import STORE, Store
from lm_eval_tasks.base.contract import BM25_LOCAL, EMBED_LOCAL, MASK, NAME_LOCAL, OF_SCALAR, POPULARITY
from lm_eval_tasks.base.errors import BudgetError
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.families import score
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.families.scalar import ALL_LEVELS, LEVELS, Level
from lm_eval_tasks.families.scalar import hook as scalar_hook
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import bm25_choice, shortened
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.sample import read
from standins.openai_server import serve
from standins.places import DATA, table_beside
from standins.rounds import SMALL_SOURCE, build, hashes, prepare, small_round
from tests.builder.test_pipeline import rows
from tests.faults.cases import questions
from tests.helpers.evaluating import evaluate
from tests.helpers.samples import sample
from tests.helpers.served import Command, metadata
from tests.helpers.typed_rows import scalar_row
from tests.lm_eval_tasks.data.test_slots import Words, fit

DAY = date(2026, 5, 1)


def paper(name: str, abstract: str = "An abstract.") -> Paper:
    return Paper(name, 1, f"Title {name}", abstract, ("A. Ek",), ("cs.CL",), DAY, DAY, "CC BY 4.0")


def text_with(citations: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """Sentences that end in a citation each, and where these are."""
    text, places = "", []
    for i, one in enumerate(citations):
        text += f"Sentence {i} says something of its own "
        places.append((len(text), len(text) + len(one)))
        text += f"{one}. "
    return text, places


def citing(sections: int = 3, each: int = 4) -> Citing:
    """A paper whose sections cite, one by one, works 0, 1, 2 and so on; all of them resolved."""
    made, mentions = [], []
    names = ["Introduction", "Related Work", *(f"Part {i}" for i in range(sections - 2))]
    for s, name in enumerate(names):
        text, places = text_with([f"[{s * each + i + 1}]" for i in range(each)])
        made.append(Section(name, "introduction" if s == 0 else "body", 1, text))
        mentions += [Mention(s, a, b, (s * each + i,), False) for i, (a, b) in enumerate(places)]
    n = sections * each
    entries = tuple(Reference(raw=f"work {i}", label=str(i + 1)) for i in range(n))
    document = Document("T", "A", tuple(made), entries, tuple(mentions))
    return Citing(paper("2605.00001"), document, {i: f"2401.{i:05d}" for i in range(n)})


def known(id_: str) -> Cited:
    sections = (
        Section("Introduction", "introduction", 1, f"Intro of {id_}."),
        Section("Method", "body", 1, f"Method of {id_}."),
        Section("Details", "body", 2, "Details."),
        Section("Conclusion", "conclusion", 1, "The end."),
        Section("References", "references", 1, "[1] x"),
    )
    return Cited(paper(id_), Document("", "", sections))


def descriptive(contexts: Any) -> list[Any]:
    return ["descriptive"] * len(contexts)


def examine(level: Level, most: int = 5, one: Citing | None = None, seed: int = 1, **more: Any) -> list[ClozeQuestion]:
    maker = QuestionMaker(level, seed, more.get("known", known), more.get("typing", descriptive), most)
    asked = maker.ask(one or citing())
    maker.report.kept += len(asked)
    maker.report.check(len((one or citing()).document.mentions))
    return asked


# --- citations


@pytest.mark.parametrize(
    ("before", "citation", "after", "single"),
    [
        ("We use BERT (", "Devlin et al., 2019", ") here.", True),
        ("as shown (", "Li et al., 2023", "; Wang et al., 2024).", False),
        ("as shown (Li et al., 2023; ", "Wang et al., 2024", ").", False),
        ("We use BERT ", "[12]", " here.", True),
        ("many works [1], ", "[2]", ", [3].", False),
        ("and ", "[4]", "[5] too", False),
        ("follow Devlin et al. (2019). ", "Liu et al. (2019", ") go on.", True),
        ("BERT \\[ ", "[12]", "\\] and GPT \\[ [13]\\]", True),
    ],
)
def test_single_and_grouped(before: str, citation: str, after: str, single: bool) -> None:
    assert is_single(CitationInText(before, citation, after)) is single


def test_plain_cases_of_both_types() -> None:
    contexts = [
        CitationInText("For the encoder we fine-tune RoBERTa-large ", "[12]", " on all tasks.", "Experiments"),
        CitationInText(
            "Results on the ImageNet-1K dataset (", "Deng et al., 2009", ") are shown in Table 2.", "Experiments"
        ),
        CitationInText(
            "It is well known that people find long inputs difficult to read carefully ", "[3]", ".", "Introduction"
        ),
        CitationInText(
            "This question has been studied from many sides in psychology (", "Miller, 1956", ").", "Introduction"
        ),
    ]
    assert types_of(contexts) == ["attributional", "attributional", "descriptive", "descriptive"]
    assert types_of([]) == []


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.long
def test_types_agree_on_papers_left_out_of_the_making() -> None:
    from benchmarks.shared.classifier import fit, read_labels

    papers = read_labels(DATA / "scalar" / "citation_labels.jsonl.xz")
    model = fit(papers[:120])
    pairs = [
        (value > 0, kind)
        for one in papers[120:]
        for kind, value in zip(one.types, model.decide(one.citations, one.hashes), strict=True)
        if kind is not None
    ]
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.86
    singles = [(c.single, told) for one in papers for c, told in zip(one.citations, one.singles, strict=True)]
    assert sum(a == b for a, b in singles) / len(singles) > 0.98


# --- what is shown


def test_the_mask_stands_in_place_of_the_citation() -> None:
    one = citing()
    mention = one.document.mentions[5]
    text = question(one.document, "T", "A", mention, "full")
    assert text is not None
    assert text.startswith("T\n\nAbstract: A\n\n\n## Introduction\nSentence 0")
    assert f"Sentence 1 says something of its own {MASK}. " in text
    assert "[6]" not in text
    alone = question(one.document, "T", "A", mention, "section")
    assert alone is not None
    assert alone.startswith("\n## Related Work\nSentence 0")
    assert "Introduction" not in alone
    assert alone.count("[") == 4  # three citations and the mask's own bracket


def test_a_paper_is_cut_at_100_000_characters_and_a_mask_beyond_is_no_question() -> None:
    long = Section("Long", "body", 1, "word " * 30_000)
    text, [(a, b)] = text_with(["[1]"])
    document = Document("T", "A", (long, Section("Late", "body", 1, text)), (), (Mention(1, a, b, (0,), False),))
    assert question(document, "T", "A", document.mentions[0], "full") is None
    assert question(document, "T", "A", document.mentions[0], "section")
    shown = candidate(document, "An abstract.", "full")
    assert shown is not None
    assert len(shown) < MOST_CHARACTERS + 200


def test_papers_of_other_lengths_are_left_out_if_the_round_does_as_the_published_code() -> None:
    one = citing()
    filler = "word " * 2_000

    def with_text(extra: str) -> Citing:
        sections = tuple(replace(section, text=section.text + extra) for section in one.document.sections)
        return replace(one, document=replace(one.document, sections=sections))

    def longer(id_: str) -> Cited:
        cited = known(id_)
        assert cited.document is not None
        # A word of that many letters is one token.
        words = "a " * (40_000 if id_ == one.cited[0] else 30_000) + "x" * 60_000
        sections = (*cited.document.sections, Section("Long", "body", 1, words))
        return replace(cited, document=replace(cited.document, sections=sections))

    reasons = {}
    for name, paper_text in (("short", ""), ("fit", filler), ("long", filler * 4)):
        maker = QuestionMaker(LEVELS[1], 1, longer, descriptive, 50, "published")
        asked = maker.ask(with_text(paper_text))
        assert len(asked) == (11 if name == "fit" else 0)
        reasons[name] = dict(maker.report.dropped)
        shown = [candidate for asked_question in asked for candidate in asked_question.candidates]
        assert all(len(candidate.content) > MOST_CHARACTERS for candidate in shown)
        assert f"{one.cited[0]}v1" not in {candidate.id for candidate in shown}
    assert reasons["short"] == reasons["long"] == {"paper_length": 12}
    assert reasons["fit"] == {"gold_too_long": 1}


def test_candidates_show_what_their_form_says() -> None:
    document = known("x").document
    assert candidate(document, "Abs.", "concise") == "<Abstract>Abstract: Abs.</Abstract>"
    full = candidate(document, "Abs.", "full")
    assert full == (
        "<Abstract>Abstract: Abs.</Abstract><Content>\n## Introduction\nIntro of x.\n\n## Method\nMethod of x.\n\n"
        "### Details\nDetails.\n\n## Conclusion\nThe end.\n</Content>"
    )
    assert (
        candidate(document, "Abs.", "body")
        == "<Content>\n\n## Method\nMethod of x.\n\n### Details\nDetails.\n\n</Content>"
    )
    assert candidate(None, "Abs.", "full") is None
    assert candidate(None, "Abs.", "concise")
    assert candidate(document, "", "full") is None


# --- questions


@pytest.mark.parametrize("level", LEVELS[1:], ids=lambda level: level.name)
def test_a_question_has_its_gold_and_three_others_of_the_paper(level: Level) -> None:
    one = citing()
    asked = examine(level, one=one)
    assert len(asked) == 5
    for made in balance_positions(asked, 1):
        gold = made.candidates[made.label]
        place = int(made.id.split("#")[1])
        assert gold.id == one.cited[place] + "v1"
        assert len({candidate.id for candidate in made.candidates}) == CANDIDATES
        assert {candidate.id.removesuffix("v1") for candidate in made.candidates} <= set(one.cited.values())


def test_nearest_distractors_are_of_the_same_section_first() -> None:
    level = Level("Near", citation="descriptive", distractors="nearest")
    for made in examine(level, most=12):
        place = int(made.id.split("#")[1])
        section = place // 4
        same = [k for k in range(12) if k // 4 == section and k != place]
        chosen = [int(candidate.id[5:10]) for candidate in made.candidates[1:]]
        assert len(set(chosen) & set(same)) >= 2
        assert all(abs(k // 4 - section) <= 1 for k in chosen)


def test_questions_depend_on_seed_and_not_on_order() -> None:
    level = Level("Any", citation="descriptive")
    assert examine(level) == examine(level)
    assert examine(level, seed=2) != examine(level)


def test_gold_positions_are_even() -> None:
    made = balance_positions(examine(Level("Any", citation="descriptive"), most=12), 3)
    assert Counter(one.label for one in made) == {0: 3, 1: 3, 2: 3, 3: 3}


def test_questions_are_drawn_over_the_papers() -> None:
    level = Level("Any", citation="descriptive")
    papers = [replace(citing(), paper=paper(f"2605.{i:05d}")) for i in range(9)]

    def drawn(wanted: int, seed: int = 1) -> tuple[Counter[str], QuestionMaker]:
        maker = QuestionMaker(level, seed, known, descriptive, 5)
        in_turn = sorted(papers, key=lambda one: turn_of(one.paper, seed))
        made = ask_all(maker, in_turn, seed, wanted)
        assert [one.id for one in made] == sorted((one.id for one in made), key=row_order)
        return Counter(one.paper.id for one in made), maker

    few, maker = drawn(4)
    assert sorted(few.values()) == [1] * 4
    maker.report.check(4 * 12)
    assert maker.report.dropped["enough_questions"] == 4 * 4
    assert set(few) not in ({one.paper.id for one in papers[:4]}, set(drawn(4, seed=2)[0]))
    assert sorted(drawn(12)[0].values()) == [1] * 6 + [2] * 3
    assert sorted(drawn(1000)[0].values()) == [5] * 9


def test_levels_that_mask_the_same_ask_the_same() -> None:
    full, concise, other = (
        Level(name, citation="descriptive", distractors="nearest", candidates=shown)
        for name, shown in (("A", "full"), ("B", "concise"), ("C", "body"))
    )
    asked = [examine(one) for one in (full, concise, other)]
    assert len({tuple((q.id, tuple(c.id for c in q.candidates)) for q in one) for one in asked}) == 1
    assert len({tuple(q.label for q in balance_positions(one, 1)) for one in asked}) == 1
    assert len({q.candidates[0].content for one in asked for q in one if q.id == asked[0][0].id}) == 3


def test_what_cannot_be_asked_has_a_reason() -> None:
    level = Level("Any", citation="descriptive")

    def reasons(one: Citing | None = None, most: int = 5, **more: Any) -> dict[str, int]:
        maker = QuestionMaker(level, 1, more.get("known", known), more.get("typing", descriptive), most)
        maker.ask(one or citing())
        return dict(maker.report.dropped)

    assert reasons() == {"enough_of_paper": 7}
    assert reasons(typing=lambda contexts: ["attributional"] * len(contexts)) == {"other_type": 12}
    assert reasons(known=lambda id_: None) == {"gold_without_text": 12}
    # One work under many ids.
    assert reasons(known=lambda id_: replace(known(id_), paper=paper("1"))) == {"too_few_candidates": 12}
    few = citing()
    assert reasons(Citing(few.paper, few.document, {0: "2401.00000", 1: "2401.00001"})) == {
        "unresolved": 10,
        "too_few_candidates": 2,
    }
    same = Citing(few.paper, few.document, {i: f"2401.{i % 4:05d}" for i in range(12)})
    assert reasons(same)["repeated"] > 0


def test_contexts_of_groups_are_not_single() -> None:
    section = Section("S", "body", 1, "Many [1], [2] and one [3].")
    places = ((5, 8), (10, 13), (22, 25), (26, 26))
    mentions = tuple(Mention(0, *place, (i,), False) for i, place in enumerate(places))
    document = Document("", "", (section,), (), mentions)
    assert [citation_in_text(document, mention).single for mention in mentions] == [False, False, True, False]


# --- an annotating model


@pytest.mark.slow
def test_a_model_is_asked_about_each_single_citation_once(tmp_path: Path) -> None:
    contexts = [
        CitationInText("We use BERT ", "[1]", "."),
        CitationInText("People read ", "[2]", "."),
        CitationInText("", "[3]", ", [4]", single=False),
    ]
    with serve(lambda body: "ATTRIBUTIONAL" if "BERT" in body["messages"][0]["content"] else "descriptive.") as server:
        for _ in range(2):
            types = ask_model(contexts, server.url, "judge", Journal(tmp_path / "types.jsonl"))
            assert types == ["attributional", "descriptive", "descriptive"]
        assert len(server.requests) == 2
    with serve(lambda body: "I cannot tell.") as server, pytest.raises(SourceError, match=r"neither .* to 2 of 2"):
        ask_model(contexts, server.url, "judge", Journal(tmp_path / "other.jsonl"))
    # One that it cannot tell of a few is no reason to give up.
    with serve(lambda body: "?" if "BERT" in body["messages"][0]["content"] else "descriptive.") as server:
        assert ask_model(contexts, server.url, "judge", Journal(tmp_path / "few.jsonl")) == ["descriptive"] * 3


# --- prompts and answers


def row() -> dict[str, Any]:
    content = "<Abstract>Abstract: {a}</Abstract><Content>\n{c}\n</Content>"
    return {
        "question": f"T\n\nAbstract: A\n\n\n{' before' * 50} {MASK}{' after' * 50}",
        "candidate_text": "full",
        "candidates": [
            {"id": str(i), "title": f"Title {i}", "content": content.format(a=" abs" * 5, c=" c" * (40 + 20 * i))}
            for i in range(4)
        ],
    }


def test_short_contexts_shorten_candidates_alike_then_the_paper_around_the_mask() -> None:
    whole = "".join(slot.text for slot in slots_of(scalar_row(**row())))
    total = len(Words()([whole])["input_ids"][0])
    light = fit(slots_of(scalar_row(**row())), total - 30, Words()).text
    assert light.count(" c") - light.count(" carefully") == whole.count(" c") - 30
    lengths = [part.count(" c") for part in light.split("<Candidate>Candidate ")[1:]]
    assert lengths[0] == 40
    assert max(lengths) - min(lengths) <= 41
    tight = fit(slots_of(scalar_row(**row())), total - 330, Words()).text
    assert tight.count(" before") == pytest.approx(tight.count(" after"), abs=1)
    assert 0 < tight.count(" before") < 50
    assert f" before {MASK} after" in tight
    for i in range(4):
        assert f"Candidate [{i}]:\nTitle {i}\n\n<Abstract>" in tight
    assert tight.startswith("You are given a paper")
    assert tight.endswith("within <answer> and </answer>.")
    with pytest.raises(BudgetError):
        fit(slots_of(scalar_row(**row())), 60, Words())


def test_without_context_no_paper_is_shown() -> None:
    without = {**row(), "question": shortened(row()["question"], "none")}
    text = "".join(slot.text for slot in slots_of(scalar_row(**without)))
    assert f"<Paper>\n\n{MASK}</Paper>" in text
    assert " before" not in text


# Shapes of answers: {n} is the label, {m} another candidate. Then whether `accuracy` and SCALAR's own rule take it as right.
SHAPES = table_beside(__file__, "shapes.json")


@pytest.mark.parametrize(("shape", "lenient", "strict"), SHAPES)
def test_how_an_answer_is_read(shape: str, lenient: bool, strict: bool) -> None:
    labels = range(4)
    docs = [question_doc(label) for label in labels]
    answers = [[shape.format(n=label, m=(label + 1) % 4)] for label in labels]
    scored = [ScoredAnswer.from_text(text).scores for text in score.score(answers, docs)]
    assert {scores["accuracy"] for scores in scored} == {float(lenient)}
    assert {scores["accuracy_strict"] for scores in scored} == {float(strict)}


def question_doc(label: int, **columns: Any) -> dict[str, Any]:
    best_constant = columns.pop("best_constant", 0)
    of_family = {"label": label, "best_constant": best_constant}
    row = sample("2601.00001v1#3", "A. Ek", {}, prompt_name="scalar", target=str(label), of_family=of_family).row
    return row.to_doc() | columns


def test_scores() -> None:
    doc = question_doc(2, tokens_cut=5, tokens_before=10, best_constant=2)
    texts = score.score(
        [["<answer>2</answer>"], ["<answer>1</answer>"], ["Two."], ["<think><answer>2</answer>"]], [doc] * 4
    )
    assert [ScoredAnswer.from_text(text).answer for text in texts] == ["2", "1", "", ""]
    right, wrong, none, thinking = (ScoredAnswer.from_text(text).scores for text in texts)
    assert (right["accuracy"], wrong["accuracy"], none["accuracy"], thinking["accuracy"]) == (1.0, 0.0, 0.0, 0.0)
    assert (right["no_answer"], none["no_answer"], thinking["unfinished"]) == (0.0, 1.0, 1.0)
    assert (right["accuracy_random"], right["cut_share"]) == (0.25, 0.5)


def test_the_best_constant_is_that_of_the_labels() -> None:
    docs = [question_doc(label, best_constant=3) for label in [3, 1, 3, 0]]
    scored = [ScoredAnswer.from_text(text).scores for text in score.score([["<answer>[3]</answer>"]] * 4, docs)]
    assert [one["accuracy_constant"] for one in scored] == [one["accuracy"] for one in scored] == [1.0, 0.0, 1.0, 0.0]


# --- a round, and imports


@pytest.fixture(scope="module")
def with_scalar(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round over the small world with all levels, those of the ablations too, and one of its own."""
    place = tmp_path_factory.mktemp("scalar")
    shutil.copytree(world / "work", place / "work")
    own = {"name": "Cloze-Short", "question": "section", "citation": "descriptive", "candidates": "concise"}
    scalar = {"levels": [level.name for level in ALL_LEVELS], "level": [own], "questions": 16}
    round_ = small_round(place, settings=("Title-10K",), scalar=scalar)
    prepare(round_, LocalEngine(2))
    build(round_)
    return place


@pytest.mark.slow
def test_a_round_holds_the_levels_it_asks_for(with_scalar: Path) -> None:
    folder = with_scalar / "academiceval"
    names = [*(level.name for level in ALL_LEVELS), "Cloze-Short"]
    assert set(names) < set(get_dataset_config_names(str(folder)))
    for name in names:
        of_level = rows(folder, name)
        assert len(of_level) > 5
        assert next(iter(load_dataset(str(folder), name, split="test", streaming=True)))["round"] == "2026.11"
        spread = Counter(one["label"] for one in of_level)
        assert max(spread.values()) - min(spread.get(i, 0) for i in range(4)) <= 1
        assert max(Counter(one["paper_id"] for one in of_level).values()) <= 5
        for one in of_level:
            assert one["question"].count(MASK) == 1
            assert one["round"] == "2026.11"
            assert all(candidate["content"] for candidate in one["candidates"])
    assert set(load_dataset(str(folder), "SCALAR-Easy")["test"]["citation_type"]) == {"attributional"}
    hard = load_dataset(str(folder), "SCALAR-Hard")["test"]
    assert (hard[0]["distractors"], hard[0]["candidate_text"]) == ("nearest", "body")
    card = (folder / "README.md").read_text()
    # Which of its tasks the Hub registers, and why not the others.
    assert "`eval.yaml`" in card
    assert "| SCALAR-Easy | SCALAR |" in card
    assert "| questions SCALAR-Hard |" in card
    test = next(one for one in read_manifest(folder).configurations if one.name == "SCALAR-Hard").statistics("test")
    assert test.labels == tuple(Counter(hard["label"])[i] for i in range(4))
    assert f"| SCALAR-Hard | {' | '.join(map(str, test.labels))} |" in card
    assert f"| {test.labels[0] / test.samples:.3f} | {max(test.labels) / test.samples:.3f} |" in card


@pytest.mark.slow
def test_what_is_right_without_reading_stands_in_the_card(with_scalar: Path, command: Command, tmp_path: Path) -> None:
    folder = with_scalar / "academiceval"
    measured = {
        configuration.name: configuration.statistics("test").shortcuts
        for configuration in read_manifest(folder).configurations
        if configuration.form == "questions"
    }
    assert set(measured) == {*(level.name for level in ALL_LEVELS), "Cloze-Short"}
    assert all(set(shortcuts) == {BM25_LOCAL, NAME_LOCAL, POPULARITY} for shortcuts in measured.values())
    rows_of_level = load_dataset(str(folder), "SCALAR-Easy")["test"]
    right = [bm25_choice(typed(ScalarRow, row)) == row["label"] for row in rows_of_level]
    assert measured["SCALAR-Easy"][BM25_LOCAL].mean == round(sum(right) / len(right), 4)
    with Store.open(with_scalar / "work" / STORE) as store:
        cited = Counter(id_ for paper in store.papers() for id_ in set(store.cited_ids(paper.id).values()))
    popular = [[cited[bare_id(one["id"])] for one in row["candidates"]] for row in rows_of_level]
    most = [counts.index(max(counts)) == label for counts, label in zip(popular, rows_of_level["label"], strict=True)]
    assert measured["SCALAR-Easy"][POPULARITY].mean == round(sum(most) / len(most), 4)
    assert "Best constant answer | bm25-local | name-local | popularity |" in (folder / "README.md").read_text()
    # A copy to publish says what the whole yields, whichever rows are whole in it.
    publishable(folder, tmp_path / "public", "redistributable")
    tables = [
        (place / "README.md").read_text().partition("## Without reading the paper")[2].partition("\n## ")[0]
        for place in (folder, tmp_path / "public")
    ]
    assert "| SCALAR-Easy |" in tables[0]
    assert tables[0] == tables[1]


@pytest.mark.long
def test_embeddings_are_measured_if_asked_for(with_scalar: Path) -> None:
    scalar = {"levels": ["SCALAR-Easy"], "embed_local": True, "questions": 2}
    build(small_round(with_scalar, settings=("Title-10K",), scalar=scalar, output=with_scalar / "embedded"))
    [level] = [one for one in read_manifest(with_scalar / "embedded").configurations if one.form == "questions"]
    assert set(level.statistics("test").shortcuts) == {*OF_SCALAR, POPULARITY}
    card = (with_scalar / "embedded" / "README.md").read_text()
    assert "Best constant answer | bm25-local | embed-local | popularity |" in card


@pytest.mark.slow
def test_related_work_shows_the_same_citations_with_and_without_scalar(dataset: Path, with_scalar: Path) -> None:
    round_ = small_round(
        with_scalar, settings=("Related-34K",), scalar={"levels": ["SCALAR-Easy"]}, output=with_scalar / "related"
    )
    build(round_)
    ours = {one["id"]: one["citations"] for one in rows(with_scalar / "related", "Related-34K")}
    theirs = {one["id"]: one["citations"] for one in rows(dataset, "Related-34K")}
    # There every setting's demonstrations must be there, so that fewer papers are left.
    assert len(theirs) > 10
    assert {id_: ours[id_] for id_ in theirs} == theirs


@pytest.mark.slow
def test_only_accepted_papers_are_asked_about(with_scalar: Path) -> None:
    folder = with_scalar / "academiceval"
    chosen = load_dataset(str(folder), "SCALAR-Medium")["test"]["paper_id"][0].rpartition("v")[0]
    (with_scalar / "accepted.txt").write_text(f"{chosen}\n")
    scalar = {"levels": ["SCALAR-Medium"], "accepted": with_scalar / "accepted.txt", "questions_of_paper": 2}
    build(small_round(with_scalar, settings=("Title-10K",), scalar=scalar, output=with_scalar / "few"))
    asked = load_dataset(str(with_scalar / "few"), "SCALAR-Medium")["test"]
    assert {one.rpartition("v")[0] for one in asked["paper_id"]} == {chosen}
    assert len(asked) <= 2


@pytest.mark.slow
def test_a_publishable_copy_holds_no_text_without_licence_and_can_be_filled(
    with_scalar: Path, command: Command, tmp_path: Path
) -> None:
    folder, public = with_scalar / "academiceval", tmp_path / "public"
    publishable(folder, public, "redistributable")
    kept = [one for level in ALL_LEVELS for one in rows(public, level.name)]
    by_id = [one for level in ALL_LEVELS for one in rows(public, f"{level.name}-ids")]
    assert 0 < len(kept) < len(kept) + len(by_id) == sum(len(rows(folder, level.name)) for level in ALL_LEVELS)
    for one in kept:
        assert all("creativecommons" in name for name in (one["license"], *(c["license"] for c in one["candidates"])))
    for one in by_id:
        assert not {"title", "question"} & set(one)
        assert len(one["texts"]) == 3 + 2 * CANDIDATES
    (tmp_path / "round.toml").write_text(
        f'round = "2026.11"\nseed = 7\nworkspace = "{with_scalar / "work"}"\n{SMALL_SOURCE}'
    )
    code, _, err = command("fill", public, tmp_path / "round.toml", "-o", tmp_path / "whole")
    assert code == 0, err
    assert hashes(tmp_path / "whole") == hashes(folder)
    # A copy of an earlier release, which measured no shortcuts.
    manifest = json.loads((public / "manifest.json").read_text())
    for configuration in (*manifest["configurations"], *manifest["publishable"]["original"]):
        for contents in configuration["splits"].values():
            del contents["statistics"]["shortcuts"]
    (public / "manifest.json").write_text(json.dumps(manifest))
    code, _, err = command("fill", public, tmp_path / "round.toml", "-o", tmp_path / "older")
    assert code == 0, err


@pytest.mark.long
def test_models_are_asked_and_scored(with_scalar: Path, tmp_path: Path) -> None:
    from standins.llama import make_llama

    tiny_llama = tmp_path / "tiny-llama"
    make_llama(tiny_llama)
    options = {"dataset": str(with_scalar / "academiceval"), "tokenizer": str(tiny_llama), "max_length": 6000}
    with serve(lambda body: "I think <answer>1</answer>") as server:
        arguments = f"model=tiny,base_url={server.url}/chat/completions"
        from lm_eval_tasks.evaluate.generation import Generation

        scores = evaluate(
            "local-chat-completions",
            arguments,
            ["scalar"],
            options,
            SampleSelection(12),
            tmp_path,
            Generation(apply_chat_template=True),
            contexts=("none", "full"),
        )
    found = {(score.task, score.metric): score.value for score in scores}
    assert found["scalar_easy", "accuracy"] == pytest.approx(0.25, abs=0.1)
    assert found["scalar_hard", "truncated"] == 1.0
    assert found["scalar_hard_none", "no_answer"] == 0.0
    prompts = [body["messages"][-1]["content"] for body in server.requests]
    assert all(prompt.count(MASK) == 2 and prompt.count("<Candidate>Candidate [") == 4 for prompt in prompts)


@pytest.mark.slow
def test_baselines_choose_without_reading(with_scalar: Path, command: Command, tmp_path: Path) -> None:
    tasks = ("--tasks", "scalar_easy,academiceval_title_10k", "--metadata", metadata(with_scalar / "academiceval"))
    answers = {}
    for name in ("lead", "random-sentence", BM25_LOCAL, EMBED_LOCAL):
        code, _, err = command("eval", "--model", name, *tasks, "--output", tmp_path / name)
        assert (code, err) == (0, ""), err
        answers[name] = [one.answer for one in read([tmp_path / name]) if one.task == "SCALAR-Easy"]
    assert set(answers["lead"]) == {"0"}
    assert len(set(answers["random-sentence"])) > 1
    assert len(set(answers[BM25_LOCAL])) == len(set(answers[EMBED_LOCAL])) == 4
    scored = {name: read([tmp_path / name]) for name in answers}
    for shortcut, metric in ((BM25_LOCAL, "accuracy_bm25_local"), (EMBED_LOCAL, "accuracy_embed_local")):
        own = {one.id: one.scores for one in scored[shortcut] if one.task == "SCALAR-Easy"}
        assert all(scores["accuracy"] == scores[metric] for scores in own.values())
        assert not any(one.scores for one in scored[shortcut] if one.task == "Title-10K")
    # Every sample carries the first; the second takes a model and is asked for.
    lead = [one.scores for one in scored["lead"] if one.task == "SCALAR-Easy"]
    assert all("accuracy_bm25_local" in scores and "accuracy_embed_local" not in scores for scores in lead)
    # So a page shows it, though it was not run.
    code, _, err = command("report", tmp_path / "lead", "--output", tmp_path / "site")
    assert code == 0, err
    page = (tmp_path / "site" / "index.html").read_text()
    assert BM25_LOCAL in page
    assert EMBED_LOCAL not in page


def imported(command: Command, source: Path, output: Path, n: int) -> dict[str, tuple[str, int]]:
    """Import n published questions: prompt -> level and label."""
    code, out, _ = command("import", "scalar", source, "-o", output)
    assert code == 0
    assert f"{n} in, {n} kept" in out
    rows = {
        level: load_dataset(str(output), f"SCALAR-{level.capitalize()}")["test"] for level in ("easy", "medium", "hard")
    }
    return {
        "".join(slot.text for slot in slots_of(typed(ScalarRow, one))): (level, one["label"])
        for level, own in rows.items()
        for one in own
    }


@pytest.mark.data
@pytest.mark.slow
def test_the_published_questions_come_out_byte_for_byte(command: Command, tmp_path: Path) -> None:
    source = DATA / "scalar" / "questions.jsonl.xz"
    ours = imported(command, source, tmp_path / "scalar", 24)
    with lzma.open(source, "rt") as lines:
        published = sorted(json.loads(line)["question"] for line in lines)
    assert sorted(ours) == published
    loaded = scalar_hook.load("SCALAR-Hard", 1024, dataset=str(tmp_path / "scalar"))["test"]
    assert set(loaded["prompt"]) <= set(published)


def test_a_text_under_two_titles_is_named_and_a_score_is_stated_without_its_question(
    command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SCALAR found texts by titles: where two works share one, the gold may carry the other's."""
    source = tmp_path / "questions.jsonl"
    first, *others = questions()
    first = {**first, "question": first["question"].replace("Abstract: a2<", "Abstract: a1<")}
    source.write_text("".join(json.dumps(record) + "\n" for record in (first, *others)))
    assert command("import", "scalar", source, "-o", tmp_path / "scalar")[0] == 0
    assert "2410.00000v1#easy-0: one text is shown as that of 'Title 1' and of 'Title 2'" in caplog.text
    run = ("--tasks", "scalar_easy", "--bertscore", "none", "--output", tmp_path / "run")
    assert command("eval", "--model", "lead", "--dataset", tmp_path / "scalar", *run)[0] == 0
    scores = {sample.id: sample.scores for sample in read([tmp_path / "run"])}
    assert [id_ for id_, of_sample in scores.items() if "accuracy_sound" not in of_sample] == ["2410.00000v1#easy-0"]
    assert all("accuracy" in of_sample for of_sample in scores.values())


@pytest.mark.data
@pytest.mark.slow
def test_scalars_own_repository_is_read(command: Command, tmp_path: Path) -> None:
    """Folders by level, one file a question, no level in the record; one question has a candidate without text."""
    source = DATA / "scalar" / "published"
    ours = imported(command, source, tmp_path / "scalar", 25)
    published = {}
    for file in source.glob("cloze_examples_*/*.json"):
        record = json.loads(file.read_text())
        published[record["question"]] = (file.parent.name.rpartition("_")[2], int(record["label_id"]))
    assert ours == published
    # Of these four papers' references few have a text: they are read, and no question comes of them.
    code, _, err = command("import", "scalar-papers", source / "paper_obj_anno", "-o", tmp_path / "none")
    assert code == 1
    assert "questions SCALAR-Easy: 255 in, 0 kept" in err


@pytest.mark.data
@pytest.mark.slow
def test_scalars_own_papers_are_shown_as_its_prompts_show_them() -> None:
    """For every single citation of a work in the files, by the layout that the published prompts have."""
    structured = [read_structured(DATA / "scalar" / file) for file in benchmark.FILES]
    assert benchmark.shown_alike(structured, DATA / "scalar") == (761, 761)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("citation", ..., "no key 'citation'"),
        ("citation", None, ".*NoneType"),
        ("level", "harder", ".*the level 'harder' must be one of easy, medium, hard"),
        ("question", "hello", ".*no paper and references in the prompt"),
        ("label_id", [], ".*int"),
    ],
)
def test_a_bad_question_is_named_with_its_reason(
    key: str, value: object, why: str, command: Command, tmp_path: Path
) -> None:
    good, bad, _ = questions()
    bad[key] = value
    if value is ...:
        del bad[key]
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "good.json").write_text(json.dumps(good))
    (tmp_path / "q" / "bad.json").write_text(json.dumps(bad))
    (tmp_path / "q" / "good (1).json").write_text(json.dumps(good))
    code, out, _ = command("import", "scalar", tmp_path / "q", "-o", tmp_path / "out")
    assert code == 0
    assert "3 in, 1 kept, bad_record 1, repeated 1" in out
    assert re.search(rf"bad_record: q/bad\.json:1, {why}", out)


@pytest.mark.long
@pytest.mark.data
def test_real_structured_papers_make_a_round(command: Command, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    with lzma.open(DATA / "scalar" / "papers.jsonl.xz", "rb") as lines:
        for i, line in enumerate(lines):
            (tmp_path / "papers" / f"{i:03d}.json").write_bytes(line)
    made = {}
    for source in (tmp_path / "papers", DATA / "scalar" / "papers.jsonl.xz"):
        code, out, _ = command("import", "scalar-papers", source, "-o", tmp_path / "made")
        assert code == 0, out
        made[source] = read_manifest(tmp_path / "made").files
    assert len({tuple(sorted(files)) for files in made.values()}) == 1
    for name in ("SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"):
        made = load_dataset(str(tmp_path / "made"), name)["test"]
        assert len(made) > 25
        assert all(one["question"].count(MASK) == 1 for one in made)


def test_files_that_are_no_questions_are_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"question": "hello"}]')
    code, _, err = command("import", "scalar", tmp_path / "bad.json", "-o", tmp_path / "out")
    assert code == 1
    assert "no question could be read" in err
    code, _, err = command("import", "scalar-papers", tmp_path / "bad.json", "-o", tmp_path / "out")
    assert code == 1
    assert "is not a structured paper" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "mark", "masked"),
    [
        ("As van der Berg (2019) says.", "Berg (2019", "van der Berg (2019)"),
        ("As Lotka (1926, p. 317) says.", "Lotka (1926", "Lotka (1926, p. 317)"),
        ("As Lotka (1926; Ek 2020) says.", "Lotka (1926", "Lotka (1926"),
        ("Found in [12, Sec. 3] too.", "12", "12"),
        ("Found in \\[ [12]\\] too.", "[ [12]", "[ [12]\\]"),
        ("As Doshi-Velez (2017) says.", "-Velez (2017", "Doshi-Velez (2017)"),
        ("As (Ek, 2020, App B.3) says.", "(Ek, 2020", "(Ek, 2020, App B.3)"),
    ],
)
def test_a_citation_is_masked_with_its_particles_and_its_place(text: str, mark: str, masked: str) -> None:
    document = Document("", "", (Section("Introduction", "introduction", 1, text),), (), ())
    start = text.index(mark)
    whole = whole_mention(document, Mention(0, start, start + len(mark), (0,), grouped=False))
    assert text[whole.start : whole.end] == masked
