"""Tokens are counted word by word, and sum up to what the tokenizer says of the whole."""

from __future__ import annotations

from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.families.registry import rows_of
from builder.families.writing.prepare import add_texts, has_debris, text_at
from builder.sources.tokenizer import load_tokenizer, shown_beside, token_counter
from lm_eval_tasks.families.rounds import read_manifest
from standins.places import table_beside

ODD = "aB é́ ß Σς ﬁ 中文 \t\n\r\x0b\x1c\u2028\u00a0\u200b[SEP][MASK] ##ing don't e.g. 3.14 -- _x_ 🙂 İ \ufffd"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from(ODD) | st.characters(codec="utf-8"), max_size=80))
def test_words_sum_up_to_the_whole(text: str) -> None:
    whole = load_tokenizer().encode(text, add_special_tokens=False)
    assert token_counter()([text, ODD + text]) == [
        len(whole),
        len(load_tokenizer().encode(ODD + text, add_special_tokens=False)),
    ]


def test_rows_carry_the_tokens_of_what_they_show(dataset: Path) -> None:
    count = token_counter()
    for one in read_manifest(dataset).configurations:
        if one.form != "full":
            continue
        assert one.task != "cloze"
        for _, row in list(rows_of(dataset, one))[:3]:
            texts = [row["content"], *shown_beside(row["title"], row["abstract"], one.task)]
            for demo in row["demonstrations"]:
                texts += [demo["content"], demo["output"], *shown_beside(demo["title"], demo["abstract"], one.task)]
            texts += [text for cited in row.get("citations") or () for text in (cited["title"], cited["abstract"])]
            assert row["input_tokens"] == sum(count(texts))
            assert row["target_tokens"] == sum(count([row["target"]]))


def test_a_file_of_texts_gives_back_what_was_put_in(tmp_path: Path) -> None:
    texts = ["one", "", "zwei äöü", "\x00\n\n", "one"]
    with (tmp_path / "texts").open("wb") as file:
        spans = add_texts(file, texts)
    with FileIO(tmp_path / "texts") as found:
        assert [text_at(found, span) for span in spans] == texts


def test_debris_in_a_target() -> None:
    targets = table_beside(__file__, "targets.json")
    assert [text for text in targets["with_debris"] if not has_debris(text)] == []
    assert [text for text in targets["clean"] if has_debris(text)] == []
