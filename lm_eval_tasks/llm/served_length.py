"""How many tokens a model really serves, and what says so.

In this order: the argument that sets it; what the configuration states, with its overrides (`hf_overrides`, for vLLM); the tokenizer. An
engine that is open in this process has read all these: it caps the argument and replaces the others. What a configuration states counts
for the least that vLLM (`_get_and_verify_max_len` in `vllm/config/model.py`) and lm-eval's transformers models (`resolve_max_length`)
make of it, so that neither cuts prompts itself: rope scaling raises it in some of them only. LongRoPE serves the length before scaling
unless an argument says more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.base.errors import EvalError

LENGTH_KEYS = ("max_model_len", "max_length", "context_length")
# The key of the metadata for the length that an open engine states.
ENGINE_LENGTH = "engine_length"
_CONFIGURED = (
    "max_position_embeddings n_positions n_ctx max_sequence_length max_seq_length max_seq_len seq_length seq_len "
    "model_max_length max_target_positions"
).split()
_BEFORE_SCALING = "original_max_position_embeddings"
# transformers writes 1e30 if a tokenizer has no limit of its own.
_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class ServedLength:
    """A number of tokens, and what it was taken from, in words."""

    tokens: int
    source: str


def served_length(model: str, arguments: Mapping[str, object], tokenizer: Any) -> ServedLength:
    """Return the length that a model serves.

    Args:
        model: a folder or Hub id, whose configuration is read if no argument decides.
        arguments: of lm-eval's model.

    Raises:
        EvalError: an argument is no number of tokens, overrides are no object, or nothing tells the length.
    """
    overrides = arguments.get("hf_overrides") or {}
    if not isinstance(overrides, Mapping):
        raise EvalError(
            f"hf_overrides={overrides!r:.40} is not an object: lm_eval splits nested values at their commas, so give all of "
            "--model_args as JSON"
        )
    engine = _given(arguments, (ENGINE_LENGTH,), "the engine")
    # One that the engine does not know can only lower what it serves.
    argument = _given(arguments, LENGTH_KEYS, "the argument {}")
    if argument is not None:
        return argument if engine is None or argument.tokens <= engine.tokens else engine
    read = None
    if (from_config := stated(configuration_of(model, arguments))) is not None:
        tokens, key = from_config
        where = "hf_overrides" if key in _of_text(overrides) else "its configuration"
        read = ServedLength(tokens, f"{key} of {where}")
    elif tokenizer.model_max_length <= _NO_LIMIT:
        read = ServedLength(int(tokenizer.model_max_length), "its tokenizer")
    if engine is not None:
        # It has read the same; what it was, says more.
        return read if read is not None and read.tokens == engine.tokens else engine
    if read is None:
        raise EvalError(f"the context length of {model!r} is unknown; give max_length=... in --model_args")
    return read


def _given(arguments: Mapping[str, object], keys: Sequence[str], source: str) -> ServedLength | None:
    key = next((key for key in keys if arguments.get(key) is not None), None)
    return ServedLength(argument_of(key, arguments[key]), source.format(key)) if key else None


def argument_of(key: str, value: object) -> int:
    """Return a number of tokens that an argument gives; an EvalError if it is something else."""
    if isinstance(value, int | str) and str(value).isascii() and str(value).isdigit() and int(value):
        return int(value)
    raise EvalError(f"{key}={value!r:.40} is not a whole number of at least 1")


def configuration_of(model: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """Return a model's configuration with its overrides, that of its text part if it has several; the overrides alone if it is not here or
    cannot be read.
    """
    from transformers import AutoConfig

    overrides = arguments.get("hf_overrides")
    changed = _of_text(overrides) if isinstance(overrides, Mapping) else {}
    try:
        config = AutoConfig.from_pretrained(
            model,
            revision=arguments.get("revision") or "main",
            trust_remote_code=switched_on(arguments, "trust_remote_code"),
            **({"gguf_file": file} if (file := arguments.get("gguf_file")) else {}),
        )
    except Exception:  # whatever a model's own code or a strict configuration raises; whoever opens the model says it
        return changed
    return {**_of_text(config.to_dict()), **changed}


def _of_text(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a configuration and of its text part, which come first."""
    text_config = config.get("text_config")
    return {**config, **(text_config if isinstance(text_config, Mapping) else {})}


def switched_on(arguments: Mapping[str, object], key: str) -> bool:
    """Tell whether an argument is true, as a value or as a word."""
    return str(arguments.get(key)).casefold() == "true"


def stated(config: Mapping[str, Any]) -> tuple[int, str] | None:
    """Return the least length that a configuration states, and its key; None if it states none."""
    lengths = [(config[key], key) for key in _CONFIGURED if type(config.get(key)) is int and config[key] > 0]
    ropes = [config[name] for name in ("rope_parameters", "rope_scaling") if isinstance(config.get(name), Mapping)]
    if any("longrope" in (rope.get("rope_type"), rope.get("type")) for rope in ropes):
        before = [config.get(_BEFORE_SCALING), *(rope.get(_BEFORE_SCALING) for rope in ropes)]
        lengths += [(tokens, _BEFORE_SCALING) for tokens in before if type(tokens) is int and tokens > 0]
    return min(lengths, default=None)
