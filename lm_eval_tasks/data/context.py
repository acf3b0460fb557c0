"""What the prompts of a run must fit: the model's tokenizer and the tokens that its context leaves for a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lm_eval_tasks.data.slots import Tokenizer
from lm_eval_tasks.errors import TokenizerError

_LENGTH_KEYS = ("max_model_len", "max_length", "context_length")
# transformers writes 1e30 where a tokenizer has no limit of its own.
_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class Context:
    """A tokenizer and its model's context length in tokens, overhead of chat template or special tokens taken off."""

    tokenizer: Tokenizer
    length: int


def of_model(arguments: Mapping[str, Any], system_instruction: str = "") -> Context | None:
    """The context of the model that lm-eval's arguments name; None where they name none (API servers, baselines).

    Args:
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.
        system_instruction: the system prompt that will stand before each prompt.

    Raises:
        TokenizerError: the tokenizer cannot be loaded, or no argument and no file tells the context length.
    """
    name = arguments.get("tokenizer") or arguments.get("pretrained")
    if not isinstance(name, str) or not name:
        return None
    length = next((int(arguments[key]) for key in _LENGTH_KEYS if arguments.get(key)), None)
    return _load(
        name, arguments.get("revision") or "main", str(arguments.get("pretrained") or name), length, system_instruction
    )


@cache
def _load(name: str, revision: str, model: str, length: int | None, system_instruction: str) -> Context:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
    except (OSError, ValueError, ImportError) as err:
        raise TokenizerError(
            f"the tokenizer of {name!r} cannot be loaded ({_first_line(err)}); name a local folder, or fetch it while online"
        ) from err
    if not tokenizer.is_fast:
        raise TokenizerError(f"the tokenizer of {name!r} has no fast version, which cutting prompts needs")
    total = length or _configured_length(model, revision) or tokenizer.model_max_length
    if total > _NO_LIMIT:
        raise TokenizerError(f"the context length of {model!r} is unknown; give max_length=... in --model_args")
    return Context(tokenizer, total - _overhead(tokenizer, system_instruction))


def _configured_length(model: str, revision: str) -> int | None:
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model, revision=revision)
    except (OSError, ValueError):
        return None
    names = ("max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length")
    return next((int(value) for key in names if (value := getattr(config, key, None))), None)


def _overhead(tokenizer: Any, system_instruction: str) -> int:
    """Tokens that a run adds to a prompt: special ones, or the chat template's if there is one, whichever are more.

    lm-eval puts a system prompt into the template's own place for it, or before the prompt where there is no template.
    """
    special = int(tokenizer.num_special_tokens_to_add())
    before = len(tokenizer(f"{system_instruction}\n\n", add_special_tokens=False)["input_ids"])
    special += before if system_instruction else 0
    if not tokenizer.chat_template:
        return special
    text = "word"
    messages = [{"role": "system", "content": system_instruction}] if system_instruction else []
    rendered = tokenizer.apply_chat_template(
        [*messages, {"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
    )
    count = len(tokenizer(rendered)["input_ids"]) - len(tokenizer(text, add_special_tokens=False)["input_ids"])
    return max(special, count)


def _first_line(err: Exception) -> str:
    return str(err).strip().splitlines()[0][:160] if str(err).strip() else type(err).__name__
