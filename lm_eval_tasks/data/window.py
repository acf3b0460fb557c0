"""What the prompts of a run must fit: the model's tokenizer and the tokens that its context leaves for a prompt."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lm_eval_tasks.base.metadata import switch
from lm_eval_tasks.llm.served_length import (
    ENGINE_LENGTH,
    LENGTH_KEYS,
    ServedLength,
    argument_of,
    served_length,
    switched_on,
)
from lm_eval_tasks.llm.thoughts import marks_of, opening_mark

_LOGGER = logging.getLogger(__name__)
# Arguments that decide how a model reads prompts.
READ = (
    *"pretrained gguf_file tokenizer revision enable_thinking trust_remote_code hf_overrides".split(),
    *(ENGINE_LENGTH, *LENGTH_KEYS),
)


@dataclass(frozen=True, slots=True)
class ModelWindow:
    """What a model reads prompts with.

    Attributes:
        served: the length of the context, and what said so.
        length: the same in tokens, less the overhead of the chat template or special tokens.
        name: of the tokenizer, `tokenizer.load`'s argument.
        opens: the mark of reasoning that the chat template writes at the end of a prompt; "" if it writes none.
        marks: what the template writes before and after reasoning, "" where it does not tell.
    """

    tokenizer: Callable[..., Any]
    served: ServedLength
    length: int
    name: str
    opens: str
    marks: tuple[str, str]


def of_model(arguments: Mapping[str, object], system_instruction: str = "") -> ModelWindow | None:
    """Return the context of the model that lm-eval's arguments name; None if they name none (API servers, baselines).

    Args:
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.
        system_instruction: the system prompt that will precede each prompt.

    Raises:
        EvalError: the tokenizer cannot be loaded, or no argument and no file gives the context length.
    """
    name = arguments.get("tokenizer") or arguments.get("pretrained")
    if not isinstance(name, str) or not name:
        given = next((key for key in LENGTH_KEYS if arguments.get(key) is not None), None)
        _warn_of_length(argument_of(given, arguments[given]) if given else None)
        return None
    known = {key: arguments[key] for key in READ if arguments.get(key) is not None}
    return _load(json.dumps(known, sort_keys=True, default=str), system_instruction)


@cache
def _warn_of_length(length: int | None) -> None:
    if length is not None:
        _LOGGER.warning("prompts are not cut to %d tokens, because no tokenizer was named: add tokenizer=...", length)


@cache
def _load(known: str, system_instruction: str) -> ModelWindow:
    from lm_eval_tasks.llm import tokenizers

    arguments = json.loads(known)
    name = str(arguments.get("tokenizer") or arguments["pretrained"])
    # Of its own tokenizer, unless another one is named.
    is_other = (arguments.get("tokenizer") and arguments.get("pretrained")) or name.endswith(tokenizers.GGUF)
    file = "" if is_other else str(arguments.get("gguf_file") or "")
    label = f"{'/'.join(filter(None, (name.rstrip('/'), file)))}@{arguments.get('revision') or 'main'}"
    tokenizer = tokenizers.load(label, trust_remote_code=switched_on(arguments, "trust_remote_code"))
    served = served_length(str(arguments.get("pretrained") or name), arguments, tokenizer)
    _LOGGER.info("prompts are cut to %d tokens, as %s says", served.tokens, served.source)
    thinking = None if "enable_thinking" not in arguments else switch("enable_thinking", arguments["enable_thinking"])
    around, opens, marks = _around(tokenizer, system_instruction, thinking)
    return ModelWindow(tokenizer, served, served.tokens - around, label, opens, marks)


def _around(tokenizer: Any, system_instruction: str, thinking: bool | None) -> tuple[int, str, tuple[str, str]]:
    """Count the tokens that a run adds to a prompt (special ones, or the chat template's if there is one, whichever are more), the mark of
    reasoning that the template ends with, and those around reasoning.

    lm-eval puts a system prompt into the template's own place for it, or before the prompt if there is no template.
    """
    special = int(tokenizer.num_special_tokens_to_add())
    if system_instruction:
        special += len(tokenizer(f"{system_instruction}\n\n", add_special_tokens=False)["input_ids"])
    if not tokenizer.chat_template:
        return special, "", ("", "")
    text = "word"
    messages = [{"role": "system", "content": system_instruction}] if system_instruction else []
    options = {"tokenize": False, **({} if thinking is None else {"enable_thinking": thinking})}
    messages.append({"role": "user", "content": text})
    rendered = tokenizer.apply_chat_template(messages, add_generation_prompt=True, **options)
    marks = marks_of(lambda answer: str(tokenizer.apply_chat_template([*messages, answer], **options)), rendered)
    count = len(tokenizer(rendered)["input_ids"]) - len(tokenizer(text, add_special_tokens=False)["input_ids"])
    return max(special, count), opening_mark(rendered, marks[0]), marks
