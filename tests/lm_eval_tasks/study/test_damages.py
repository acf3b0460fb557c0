"""Damages change what they say they change, and nothing else; and report cards count who notices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lm_eval_tasks.metrics import registry
from lm_eval_tasks.study import eyesight, originals, report_card
from lm_eval_tasks.study.damages import facts
from lm_eval_tasks.study.damages.base import Material
from lm_eval_tasks.study.damages.registry import DAMAGES, HARMLESS, Kind, change_text
from tests.helpers.places import DATA
from tests.helpers.runs import evaluated

TEXT = (
    'We show that BERT improves accuracy by 12.5% on 1,200 papers, and it is faster than "GPT-2". It uses color and behavior models [1]. '
    "However, the approach needs more data, but costs less. Results are strong on three tasks of machine translation."
)
OTHER = "The KLEE engine finds bugs. SAGE does not. Fuzzing with AFL is slower than both, as LibFuzzer shows, and needs many seeds to begin with."
MATERIAL = Material(
    body="BERT and GPT-2 reach 12.5% on 1,200 papers, 13.9 and 1,500 in all." + " Machine translation is hard." * 5,
    other=OTHER,
    own_other=OTHER * 2,
    other_body=OTHER,
    citations=("One", "Two", "Three"),
)
EVERY = (*DAMAGES, *HARMLESS)
Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_every_change_is_repeatable_and_counted(kind: Kind) -> None:
    made = change_text(kind, TEXT, MATERIAL, "seed")
    assert made is not None
    assert made == change_text(kind, TEXT, MATERIAL, "seed")
    assert made.changes >= 1
    assert made.text != TEXT
    assert change_text(kind, "", Material(""), "seed") is None


def test_a_changed_number_keeps_its_form() -> None:
    for seed in range(30):
        made = change_text(DAMAGES[0], TEXT, MATERIAL, str(seed))
        assert made is not None
        percent, papers = (found[0] for found in re.finditer(r"\d[\d,]*\.?\d+(?=%| papers)", made.text))
        assert re.fullmatch(r"\d\d\.\d", percent)
        assert re.fullmatch(r"\d,\d{3}", papers)
        assert {percent, papers}.isdisjoint(("12.5", "1,200"))


def test_damages_to_numbers_are_what_they_say() -> None:
    by_name = {kind.name: kind for kind in DAMAGES}

    def damage(name: str, text: str, seed: str = "s") -> str:
        damaged = change_text(by_name[name], text, MATERIAL, seed)
        assert damaged is not None
        return damaged.text

    assert damage("transposed", "It is 47.") == "It is 74."
    assert change_text(by_name["transposed"], "It is 5, 44 or 10.", MATERIAL, "s") is None
    assert damage("elsewhere", "It is 12.9 now.") in ("It is 12.5 now.", "It is 13.9 now.")
    assert change_text(by_name["elsewhere"], "It is 123456 now.", MATERIAL, "s") is None
    assert re.fullmatch(r"We have 1,200 and \d+\.\d%\.", damage("percentages", "We have 1,200 and 12.5%."))
    assert damage("counts", "Three of them.").split()[0] in {w.capitalize() for w in facts.COUNTS} - {"Three"}


def test_harmless_rewriting_says_the_same() -> None:
    by_name = {kind.name: kind for kind in HARMLESS}
    written = change_text(by_name["written"], "We use 3 of 1,200 papers, or 12.5%, see [3].", MATERIAL, "s")
    short = change_text(by_name["abbreviated"], TEXT, MATERIAL, "s")
    assert written is not None and short is not None
    assert written.text == "We use three of 1200 papers, or 12.5 percent, see [3]."
    assert short.text.endswith("three tasks of MT.")


def test_strength_is_the_share_of_places() -> None:
    text = " ".join(f"It is higher than {n}." for n in range(20))
    [kind] = [one for one in DAMAGES if one.name == "comparisons"]
    assert [change_text(kind, text, MATERIAL, "s", strength).changes for strength in (0.05, 0.5, 1.0)] == [1, 10, 20]  # type: ignore[union-attr]


def test_denials_keep_the_length_about() -> None:
    [kind] = [one for one in DAMAGES if one.name == "negated"]
    made = change_text(kind, TEXT, MATERIAL, "s", 1.0)
    assert made is not None
    assert abs(len(made.text) - len(TEXT)) < len(TEXT) * 0.15
    assert len(made.text.split()) == len(TEXT.split())
    denied = change_text(kind, "It is not better, and we do show that it can't be done with it.", MATERIAL, "s", 1.0)
    assert denied is not None
    assert denied.text == "It is indeed better, and we don't disprove that it can't be done with it."


@pytest.mark.slow
def test_metrics_get_a_report_card(command: Command, dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    code, out, err = command(
        "study", "metrics", dataset, "--metrics", "rouge_l,numbers_supported,length", "--task", "intro"
    )
    assert (code, "no metric 'length'" in err) == (1, True)
    # The more of one, the better; the fewer; the nearer to 1.
    names = ("rouge_l", "numbers_supported", "names_supported", "copied_from_input", "length_ratio")
    code, out, err = command(
        "study",
        "metrics",
        dataset,
        "--metrics",
        ",".join(names),
        "--task",
        "intro",
        "--output",
        file,
        "--format",
        "json",
    )
    assert code == 0, err
    card = json.loads(out)
    assert card == json.loads(file.read_text())
    assert set(card) <= set(names)
    cell = card["rouge_l"]["dropped"]
    assert set(cell) == {"accuracy", "low", "high", "n", "lower", "equal", "higher", "harmless"}
    assert cell["lower"] + cell["equal"] + cell["higher"] == cell["n"]
    assert cell["accuracy"] == cell["lower"] / cell["n"]
    assert card["length_ratio"]["repetition"]["n"] > 0
    code, out, err = command("study", "metrics", dataset, "--metrics", "rouge_l", "--task", "intro")
    assert code == 0, err
    assert "| sentences repeated |" in out
    assert "| harmless: synonyms |" in out


@pytest.mark.slow
def test_saved_answers_get_a_report_card(command: Command, dataset: Path, tmp_path: Path) -> None:
    evaluated(command, dataset, tmp_path / "a")
    code, out, err = command("study", "metrics", tmp_path / "a", "--metrics", "rouge_l,rouge_1", "--bertscore", "none")
    assert code == 0, err
    assert "| half of the sentences dropped |" in out
    assert "| rouge_l | rouge_1 |" in out
    code, _, err = command("study", "metrics", tmp_path, "--bertscore", "none", "--metrics", "rouge_l")
    assert code in (0, 1)


@pytest.mark.long
@pytest.mark.data
def test_on_real_papers_grounding_sees_what_rouge_does_not(tmp_path: Path) -> None:
    from builder.pipeline import run
    from builder.round.model import Round
    from lm_eval_tasks.engines.local import LocalEngine

    round_ = Round.model_validate(
        {
            "round": "2026.11",
            "seed": 1,
            "workspace": tmp_path / "work",
            "output": tmp_path / "lab",
            "settings": ["Title-10K", "Abs-9K"],
            "source": {"kind": "mirror", "path": str(DATA / "lab")},
            "split": {"validation": 0.2, "test": 0.2},
            "samples": {"min_citations": 1},
        }
    )
    dataset = run(round_, LocalEngine()).output
    found = originals.human_texts(str(dataset), "abs", "none", {})
    chosen = [one for one in registry.METRICS if one.name in ("rouge_l", "numbers_supported", "names_supported")]
    card = report_card.measure(found, chosen)
    assert len(found) > 70
    assert card.damages["numbers_supported"]["numbers"].accuracy >= 0.8
    assert card.damages["names_supported"]["names"].accuracy >= 0.95
    assert card.damages["rouge_l"]["comparisons"].accuracy < eyesight.BLIND
    assert max(card.alarm("numbers_supported") or 0, card.alarm("names_supported") or 0) <= 0.05
