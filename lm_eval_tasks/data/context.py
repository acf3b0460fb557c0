"""What the prompts of a run must fit: the model's tokenizer and the tokens that its context leaves for a prompt."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lm_eval_tasks.core.errors import TokenizerError
from lm_eval_tasks.data.slots import Tokenizer
from lm_eval_tasks.llm import tokenizers
from lm_eval_tasks.llm.thoughts import opening_mark

_LOGGER = logging.getLogger(__name__)
_LENGTH_KEYS = ("max_model_len", "max_length", "context_length")
# transformers writes 1e30 if a tokenizer has no limit of its own.
_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class Context:
    """What a model reads prompts with.

    Attributes:
        length: of the context, in tokens, less the overhead of the chat template or special tokens.
        name: of the tokenizer, `tokenizer.load`'s argument.
        opens: the mark of reasoning that the chat template writes at the end of a prompt; "" if it writes none.
    """

    tokenizer: Tokenizer
    length: int
    name: str
    opens: str


def of_model(arguments: Mapping[str, Any], system_instruction: str = "") -> Context | None:
    """The context of the model that lm-eval's arguments name; None if they name none (API servers, baselines).

    Args:
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.
        system_instruction: the system prompt that will precede each prompt.

    Raises:
        TokenizerError: the tokenizer cannot be loaded, or no argument and no file gives the context length.
    """
    name = arguments.get("tokenizer") or arguments.get("pretrained")
    length = next((_length(key, arguments[key]) for key in _LENGTH_KEYS if arguments.get(key) is not None), None)
    if not isinstance(name, str) or not name:
        _warn_of_length(length)
        return None
    revision = arguments.get("revision") or "main"
    thinking = None if arguments.get("enable_thinking") is None else bool(arguments["enable_thinking"])
    return _load(
        f"{name}@{revision}", revision, str(arguments.get("pretrained") or name), length, system_instruction, thinking
    )


@cache
def _warn_of_length(length: int | None) -> None:
    """Say once that prompts are not cut to a length, because nothing counts their tokens."""
    if length is not None:
        _LOGGER.warning("prompts are not cut to %d tokens, because no tokenizer was named: add tokenizer=...", length)


def _length(key: str, value: object) -> int:
    if isinstance(value, int | str) and str(value).isascii() and str(value).isdigit() and int(value):
        return int(value)
    raise TokenizerError(f"{key}={value!r:.40} is not a whole number of tokens of at least 1")


@cache
def _load(
    name: str, revision: str, model: str, length: int | None, system_instruction: str, thinking: bool | None
) -> Context:
    tokenizer = tokenizers.load(name)
    total = length or _configured_length(model, revision) or tokenizer.model_max_length
    if total > _NO_LIMIT:
        raise TokenizerError(f"the context length of {model!r} is unknown; give max_length=... in --model_args")
    around, opens = _around(tokenizer, system_instruction, thinking)
    return Context(tokenizer, total - around, name, opens)


def _configured_length(model: str, revision: str) -> int | None:
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model, revision=revision)
    except (OSError, ValueError):
        return None
    names = ("max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length")
    return next((int(value) for key in names if (value := getattr(config, key, None))), None)


def _around(tokenizer: Any, system_instruction: str, thinking: bool | None) -> tuple[int, str]:
    """Tokens that a run adds to a prompt (special ones, or the chat template's if there is one, whichever are more), and the mark of
    reasoning that the template ends with.

    lm-eval puts a system prompt into the template's own place for it, or before the prompt if there is no template.
    """
    special = int(tokenizer.num_special_tokens_to_add())
    before = len(tokenizer(f"{system_instruction}\n\n", add_special_tokens=False)["input_ids"])
    special += before if system_instruction else 0
    if not tokenizer.chat_template:
        return special, ""
    text = "word"
    messages = [{"role": "system", "content": system_instruction}] if system_instruction else []
    rendered = tokenizer.apply_chat_template(
        [*messages, {"role": "user", "content": text}],
        tokenize=False,
        add_generation_prompt=True,
        **({} if thinking is None else {"enable_thinking": thinking}),
    )
    count = len(tokenizer(rendered)["input_ids"]) - len(tokenizer(text, add_special_tokens=False)["input_ids"])
    return max(special, count), opening_mark(rendered)
