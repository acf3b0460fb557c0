"""Tokenizers that do not say where their tokens begin."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.llm import tokenizers
from tests.helpers.served import Command


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a tokenizer of bytes, of which transformers has no fast version."""
    from transformers import ByT5Tokenizer

    folder = tmp_path_factory.mktemp("a@slow")
    ByT5Tokenizer().save_pretrained(folder)
    return f"{folder}@main"


def test_a_slow_tokenizer_has_places(slow: str) -> None:
    tokenizer = tokenizers.load(slow)
    text = "  Two wörds,\n\nand more.  "
    encoding = tokenizer(text)[0]
    assert len(encoding) == len(text.encode())
    places = [encoding.token_to_chars(i) for i in range(len(encoding))]
    assert places[0][0] == 0
    assert places[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(places))
    assert tokenizers.counts(slow, [text, "a"]) == [len(text.encode()), 1]
    # The folder's name has the sign as well, with no revision behind it.
    assert tokenizers.counts(slow.removesuffix("@main"), ["a"]) == [1]


def test_what_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="cannot be loaded") as raised:
        tokenizers.load(f"{tmp_path}@main")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "config",
    [
        "[]",
        "{",
        "[" * 100_000,
        '{"model_type": "llama", "num_hidden_layers": 1000000000}',
        '{"model_type": "gemma3", "text_config": {"num_hidden_layers": 1000000000}}',
        '{"model_type": "llama", "num_labels": 1000000000}',
        '{"model_type": "llama", "num_hidden_layers": "many"}',
        '{"model_type": "llama", "num_attention_heads": 0}',
        '{"model_type": []}',
    ],
)
def test_an_odd_configuration_is_one_sentence(
    slow: str, config: str, dataset: Path, command: Command, tmp_path: Path
) -> None:
    folder = shutil.copytree(slow.removesuffix("@main"), tmp_path / "model")
    (folder / "config.json").write_text(config)
    code, _, err = command(
        "plan", "--model_args", f"pretrained={folder}", "--tasks", "academiceval_title_10k", "--dataset", dataset
    )
    assert (code, err.count("\n")) == (1, 1), err
    assert str(folder) in err
