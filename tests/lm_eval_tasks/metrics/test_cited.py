"""Citations by number: were the numbers given, do sentences fit what they cite, which other works are real."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from lm_eval_tasks.core.errors import DatasetError
from lm_eval_tasks.core.files import sha256_of
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.works import known_works
from lm_eval_tasks.metrics.citation_mentions import numbers_in
from lm_eval_tasks.metrics.cited import Cited, Given
from lm_eval_tasks.metrics.works import Works, author_key, keys_of, learn, work_key, works_of

TITLES = ("Sparse Attention for Long Documents", "BERT: Deep Bidirectional Transformers", "Parsing Tables with Graphs")
TEXTS = (
    "Sparse Attention for Long Documents. We make attention sparse so that long documents fit into memory.",
    "BERT: Deep Bidirectional Transformers. A bidirectional encoder is trained by masking words.",
    "Parsing Tables with Graphs. Tables are parsed into graphs whose edges are cells.",
)
WORKS = Works.of(
    key
    for work in (
        ("Attention Is All You Need", ("Ashish Vaswani", "Noam Shazeer", "Niki Parmar"), 2017),
        ("Effective Approaches to Neural Translation", ("Minh Lüong", "Hieu Pham"), 2015),
    )
    for key in keys_of(*work)
)


def cited(answer: str, works: Works | None = WORKS) -> Cited:
    return Cited(answer, Given(TITLES, TEXTS, works))


def test_numbers_that_were_given_and_numbers_that_were_not() -> None:
    found = cited("Sparse attention saves memory on long documents [0]. Masking words trains encoders [1, 7].")
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)
    assert (found.real, found.invented) == (0.0, 1 / 3)
    nothing = cited("Much has been written about attention.")
    assert (nothing.precision, nothing.recall, nothing.support, nothing.real) == (None, 0.0, None, None)


def test_sentences_that_fit_what_they_cite() -> None:
    right = "Attention can be made sparse for long documents [0]. A bidirectional encoder masks words [1]. Tables become graphs [2]."
    wrong = "Attention can be made sparse for long documents [1]. A bidirectional encoder masks words [2]. Tables become graphs [0]."
    assert cited(right).support == 1.0
    assert cited(wrong).support is not None
    assert cited(wrong).support < 0.5  # type: ignore[operator]
    # Works of one sentence do not compete with each other; what fits nothing is where chance puts it.
    assert cited("Attention, encoders and tables have been studied [0, 1, 2].").support is None
    assert cited("Cooking is pleasant [0].").support == 0.5


def test_support_is_half_by_chance() -> None:
    rng = random.Random(1)
    values = []
    for _ in range(200):
        one, other = rng.choice(TEXTS), rng.randrange(3)
        values.append(cited(f"{one.split('. ')[1].rstrip('.')} [{other}].").support)
    assert sum(filter(None, values)) / len(values) == pytest.approx(0.5, abs=0.08)


def test_works_outside_the_list_are_real_or_invented() -> None:
    answer = (
        "Transformers (Vaswani et al., 2017) are everywhere. Lüong and Pham (2015) translate. "
        "So does “Effective Approaches to Neural Translation”. Zork et al. (2019) disagree, in “Why Nothing Ever Works Twice”. "
        "Attention can be sparse (Zork et al., 2019) [0]."
    )
    found = cited(answer)
    # The fifth is named next to a number. Of the six works, one was given, three exist, and two are unknown.
    assert (found.real, found.invented) == (3 / 6, 2 / 6)
    assert cited(answer, None).invented is None


def test_a_given_title_in_quotation_marks_is_given() -> None:
    assert cited("As in “Parsing Tables with Graphs”, cells are edges [2].").invented == 0.0


def test_a_filter_finds_all_that_is_in_it_and_little_else() -> None:
    rng = random.Random(3)
    inside, outside = ([work_key(f"{rng.random()}") for _ in range(20_000)] for _ in range(2))
    works = Works.of(inside)
    assert all(key in works for key in inside)
    share = sum(key in works for key in outside) / len(outside)
    assert share == pytest.approx(works.false_positives, abs=0.004)
    assert works.false_positives < 0.01
    assert works.to_bytes() == Works.of(reversed(inside)).to_bytes()
    again = Works.from_bytes(works.to_bytes(), "a filter")
    assert (again.keys, again.size, inside[0] in again) == (20_000, works.size, True)
    assert len(works.to_bytes()) < 1.3 * 20_000


def test_a_year_later_and_accents_are_the_same_work() -> None:
    assert author_key(["Luong", "Pham"], 2016) in WORKS
    assert author_key(["Lüong"], 2015) in WORKS
    assert author_key(["Luong"], 2018) not in WORKS


@pytest.mark.parametrize(
    "data", [b"", b"academiceval works 1\n", b"academiceval works 1\n{}\n", b"academiceval works 1\n{\"keys\": 9, \"bits\": 64}\nxxxx"]
)  # fmt: skip
def test_what_is_not_a_filter_is_refused(data: bytes) -> None:
    with pytest.raises(DatasetError, match="is not a filter of works"):
        learn(data, "works.filter")
    assert works_of("0") is None


def test_a_range_may_be_written_backwards() -> None:
    assert numbers_in("as shown [3-1], and [5]") == {1, 2, 3, 5}


def test_a_filter_that_the_manifest_does_not_list_is_refused(dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "academiceval"
    shutil.copytree(dataset, folder)
    options = Options.of({"dataset": str(folder)})
    assert known_works(options) == sha256_of(folder / "works.filter")
    (folder / "works.filter").write_bytes(Works.of(["another"]).to_bytes())
    with pytest.raises(DatasetError, match=r"works\.filter is not the file that .*manifest\.json lists"):
        known_works(options)
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(DatasetError, match=r"manifest\.json does not list works\.filter"):
        known_works(options)
