from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from builder.errors import RoundError
from builder.round.model import load_round
from builder.round.tables import ScalarTable, SplitTable
from builder.workspace import split_dates
from lm_eval_tasks.base.contract import SPLITS
from lm_eval_tasks.families.writing.settings import SETTINGS
from tests.helpers.papers import paper

MINIMAL = 'round = "2026.11"\n[source]\nkind = "sample"\n'
SETTING = MINIMAL + "[[setting]]\n"
LEVEL = MINIMAL + "[[scalar.level]]\n"
TAKEN = "of round.toml has the name of another one"
ENDING = "of round.toml ends like"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "round.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_minimal_round_asks_for_all_settings(tmp_path: Path) -> None:
    round_ = load_round(write(tmp_path, MINIMAL))
    assert round_.chosen == SETTINGS
    assert round_.output == tmp_path / "academiceval"
    assert round_.workspace == tmp_path / "work"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINIMAL + "colour = 1\n", "unknown key `source.colour`"),
        ('sed = 1\nround = "2026.11"\n[source]\nkind = "sample"\n', "unknown key `sed`"),
        (MINIMAL.replace("2026.11", "2026.13"), "`round`"),
        (MINIMAL.replace("2026.11", r"2026.11\n"), "`round`"),
        ('settings = ["Title-11K"]\n' + MINIMAL, "`settings[0]`: there is no 'Title-11K'; did you mean"),
        ("settings = []\n" + MINIMAL, "`settings` is empty"),
        ('round = "2026.11"\n[source]\nkind = "mirror"\n', "the key `source.path` is missing"),
        (MINIMAL + "[split]\nvalidation_from = 2026-02-01\ntest_from = 2026-01-01\n", "must be earlier"),
        (MINIMAL + "[split]\ntest_from = 2026-01-01\n", "together"),
        (MINIMAL + "[papers]\npublished_from = 2026-02-01\npublished_to = 2026-01-01\n", "later than"),
        ("round = \n", "not valid TOML"),
        (f"seed = 0x{'F' * 5000}\n" + MINIMAL, "not valid TOML"),
        (f"seed = {'9' * 30}\n" + MINIMAL, "is not a value that can be used"),
        ('exclude = [{ id = "2401.00001" }]\n' + MINIMAL, "reason"),
        (MINIMAL + '[audit]\nwaive = ["everything"]\n', "is not a check"),
        (SETTING + 'name = "X"\ntask = "essay"\n', "setting[0].task"),
        (SETTING + 'name = "X"\ntask = "intro"\ntokens = 9000\n', "together with `fill`"),
        (SETTING + 'name = "X"\ntask = "intro"\ntokens = 9000\nfill = ["random"]\nrandom = 1\n', "either numbers"),
        (SETTING + 'name = "../X"\ntask = "intro"\n', "setting[0].name"),
        (SETTING + 'name = "Title-10K"\ntask = "abs"\n', f"'Title-10K' {TAKEN}"),
        (SETTING + 'name = "scalar-easy"\ntask = "abs"\n', TAKEN),
        (SETTING + 'name = "own"\ntask = "abs"\n[[setting]]\nname = "Own"\ntask = "abs"\n', TAKEN),
        (SETTING + 'name = "Own"\ntask = "abs"\n[[scalar.level]]\nname = "own"\n', TAKEN),
        (SETTING + 'name = "Foo-ids"\ntask = "abs"\n', ENDING),
        *((LEVEL + f'name = "{name}"\n', TAKEN) for name in ("Title-10K", "Easy", "SCALAR-Easy", "scalar-easy")),
        (LEVEL + 'name = "Cloze-ids"\n', ENDING),
        (SETTING + 'name = "Recall-4K"\ntask = "abs"\n', TAKEN),
        (LEVEL + 'name = "Recall-4K"\n', TAKEN),
        (LEVEL + 'name = "SCALAR-Foo"\n[[scalar.level]]\nname = "Foo"\n', TAKEN),
        ('takedowns = "takdowns.jsonl"\n' + MINIMAL, "takdowns.jsonl, which `takedowns` names"),
        (MINIMAL + "[quality]\nmax_hyphen_breaks = inf\n", "quality.max_hyphen_breaks"),
        (MINIMAL.replace('"sample"', '"arxiv"\ncontact = "J\u00fcrgen <j@x.de>"'), "in ASCII"),
    ],
)
def test_a_wrong_round_is_refused_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RoundError) as caught:
        round_ = load_round(write(tmp_path, text))
        # Names of settings alone are looked at later.
        assert "Title-11K" in text
        round_.chosen  # noqa: B018
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_round_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(RoundError, match=r"nowhere\.toml.*`academiceval init` writes a round\.toml"):
        load_round(tmp_path / "nowhere.toml")


def test_the_manifest_gets_no_place_of_this_machine(tmp_path: Path) -> None:
    text = MINIMAL.replace(
        'kind = "sample"', f'kind = "mirror"\npath = "{tmp_path}"\nreferences = ["{write(tmp_path, MINIMAL)}"]'
    )
    assert str(tmp_path) not in str(load_round(write(tmp_path, text)).config())
    configs = set()
    for id_ in ("2601.00001", "2601.00002"):
        (tmp_path / "accepted.txt").write_text(id_)
        configs.add(str(load_round(write(tmp_path, text + '[scalar]\naccepted = "accepted.txt"\n')).config()))
    assert len(configs) == 2 and "2601.0000" not in str(configs)


def test_the_list_of_accepted_papers_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("2401.00001\r\n2401.00002v2\r\n", encoding="utf-8-sig")
    assert ScalarTable(accepted=tmp_path / "list.txt").accepted_ids == {"2401.00001", "2401.00002"}
    for text, said in (("2401.00001\n2401.3\n", "has '2401.3'"), ("", "names no paper")):
        (tmp_path / "list.txt").write_text(text)
        with pytest.raises(RoundError, match=said):
            ScalarTable(accepted=tmp_path / "list.txt").accepted_ids  # noqa: B018


@pytest.mark.parametrize(
    ("years", "sizes"), [((50, 45, 5), (50, 45, 5)), ((10, 10, 80), (10, 10, 80)), ((60, 30, 10), (60, 30, 10))]
)
def test_the_split_comes_closest_to_its_shares(years: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    papers = [paper(i, day=366 * year) for year, n in enumerate(years) for i in range(n)]
    shares = SplitTable(test=sizes[2] / 100 + 0.02, validation=sizes[1] / 100 - 0.01)
    split = Counter(split_dates(shares, papers).split_of(one.published) for one in papers)
    assert tuple(split[name] for name in SPLITS) == sizes
