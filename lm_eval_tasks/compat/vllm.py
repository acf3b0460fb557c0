"""`vllm`, as lm-eval's model type of that name runs it: each answer as the engine ends it, with what the engine says about it; and the
settings that an opened model really has, of `transformers` too.

What we touch, from vLLM 0.10.2 and lm-eval 0.4.12 on; `tests/lm_eval_tasks/test_vllm.py` holds all of it against an installed engine:

- `LLM.llm_engine.step`, whose outputs are `RequestOutput`s: `finished`, `prompt_token_ids`, `num_cached_tokens` and `outputs`;
- of an answer, a `CompletionOutput`: `text`, `token_ids` and `finish_reason`;
- of `LLM.llm_engine.vllm_config`: `model_config` (`dtype`, `quantization`, `max_model_len`, `hf_text_config`) and
  `cache_config.cache_dtype`; `vllm.logger.DEFAULT_LOGGING_CONFIG`;
- of lm-eval's `VLLM`: `model`, `tok_encode` and `_model_generate`, and the `Collator` of its module (`compat/lm_eval_answers.py`);
- the words of its errors (`evaluate/models.py`, `evaluate/advice.toml`).

Public ways would be a callback of `LLM.generate` for each answer that ends, and the reason why its engine did not start in the error that
`LLM` raises.
"""

import array
import atexit
import hashlib
import json
import logging
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

_FILE, _HANDLER = "VLLM_LOGGING_CONFIG_PATH", "academiceval"


def watch(
    lm: Any,
    note: Callable[[str, Mapping[str, object] | None, str, object, object], None],
    comes: Callable[[list[tuple[object, object]]], None],
) -> None:
    """Watch an opened model. Its engine returns a batch's answers together; the engine's steps show each as it ends.

    Args:
        lm: lm-eval's `VLLM`.
        note: called with each answer: its prompt, None, its text, usage, finish reason.
        comes: called with (usage, finish reason) of a batch's answers, before lm-eval hands them over.
    """
    generate, encode, engine = lm._model_generate, lm.tok_encode, lm.model.llm_engine
    prompts: dict[bytes, list[str]] = defaultdict(list)

    def encoded(text: Any, *arguments: Any, **keywords: Any) -> Any:
        ids = encode(text, *arguments, **keywords)
        for prompt, prompt_ids in [(text, ids)] if isinstance(text, str) else zip(text, ids, strict=True):
            prompts[_digest(prompt_ids)].append(prompt)
        return ids

    def generated(requests: Any, *arguments: Any, **keywords: Any) -> Any:
        outputs = generate(requests, *arguments, **keywords)
        comes([_said(output) for output in outputs])
        return outputs

    lm.tok_encode, lm._model_generate = encoded, generated
    step = getattr(engine, "step", None)
    if step is None:
        return

    def stepped(*arguments: Any, **keywords: Any) -> Any:
        outputs = step(*arguments, **keywords)
        for output in outputs:
            if output.finished and (waiting := prompts.get(_digest(output.prompt_token_ids or ()))):
                note(waiting.pop(0), None, output.outputs[0].text, *_said(output))
        return outputs

    engine.step = stepped


def _said(output: Any) -> tuple[dict[str, object], str]:
    """Return the usage as a server would say it, and why the answer ended."""
    answer = output.outputs[0]
    usage = {
        "prompt_tokens": len(output.prompt_token_ids or ()),
        "completion_tokens": len(answer.token_ids),
        "prompt_tokens_details": {"cached_tokens": getattr(output, "num_cached_tokens", None)},
    }
    return usage, str(answer.finish_reason or "")


def _digest(ids: Sequence[int]) -> bytes:
    return hashlib.sha256(array.array("I", ids).tobytes()).digest()


@contextmanager
def errors_kept(arguments: Mapping[str, object]) -> Iterator[list[str]]:
    """Keep errors that vLLM's processes log within this block, in a file, by the configuration of logging that it lets one give
    (https://docs.vllm.ai/en/latest/examples/others/logging_configuration.html). Yields a list that has their lines if the block raises; it
    stays empty if the user configures logging, or switches it off, or if the arguments ask for processes on other machines, which could not
    read the configuration.
    """
    from vllm import logger

    kept: list[str] = []
    is_elsewhere = arguments.get("distributed_executor_backend") in ("ray", "external_launcher") or any(
        str(arguments.get(key) or 1) != "1" for key in ("nnodes", "data_parallel_size")
    )
    if os.environ.get(_FILE) or os.environ.get("VLLM_CONFIGURE_LOGGING") == "0" or is_elsewhere:
        yield kept
        return
    # It stays as long as processes may start.
    folder = Path(mkdtemp(prefix="academiceval-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    errors, config = folder / "errors.log", folder / "logging.json"
    config.write_text(json.dumps(_with_file(logger.DEFAULT_LOGGING_CONFIG, errors)), encoding="utf-8")
    handler = logging.FileHandler(errors, encoding="utf-8")
    handler.setLevel(logging.ERROR)
    # Processes that are forked have this one's handlers, others read the configuration.
    log = logging.getLogger("vllm")
    log.addHandler(handler)
    os.environ[_FILE] = str(config)
    try:
        yield kept
    except BaseException:
        kept += errors.read_text(encoding="utf-8", errors="replace").splitlines()
        raise
    finally:
        os.environ.pop(_FILE, None)
        # Ours, and what vLLM has put in its place by the configuration.
        for writing in list(log.handlers):
            if isinstance(writing, logging.FileHandler) and Path(writing.baseFilename) == errors:
                log.removeHandler(writing)
                writing.close()


def _with_file(config: dict[str, Any], errors: Path) -> dict[str, object]:
    """Return a configuration of logging whose loggers also write their errors into a file."""
    handler = {"class": "logging.FileHandler", "level": "ERROR", "filename": str(errors), "encoding": "utf-8"}
    loggers = {
        name: {**entry, "handlers": [*entry.get("handlers", []), _HANDLER]} for name, entry in config["loggers"].items()
    }
    return {**config, "handlers": {**config["handlers"], _HANDLER: handler}, "loggers": loggers}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine of a model, and the settings that it really used.

    Attributes:
        max_model_len: in tokens.
        quantization, rope: its method and parameters; None without.
    """

    name: str = ""
    max_model_len: int | None = None
    dtype: str | None = None
    kv_cache_dtype: str | None = None
    quantization: str | None = None
    rope: dict[str, object] | None = None
    version: str | None = None


def settings_of(lm: Any) -> EngineSettings | None:
    """Return the settings of a model of lm-eval; None if it does not run in this process."""
    model: Any = getattr(lm, "model", None)
    if config := getattr(getattr(model, "llm_engine", None), "vllm_config", None):
        loaded = config.model_config
        kept_as, text_config = str(config.cache_config.cache_dtype), loaded.hf_text_config
        # lm-eval cuts to its own, the engine refuses what is longer than its.
        return _settings(
            "vllm",
            min(int(lm.max_length), int(loaded.max_model_len)),
            loaded.dtype,
            kept_as,
            loaded.quantization,
            text_config,
        )
    if hasattr(model, "config") and hasattr(model, "dtype"):
        text_config = getattr(model.config, "text_config", None) or model.config
        quantized = getattr(model.config, "quantization_config", None)
        method = (
            quantized.get("quant_method")
            if isinstance(quantized, Mapping)
            else getattr(quantized, "quant_method", None)
        )
        if str(method) == "gguf" and all(weights.is_floating_point() for weights in model.parameters()):
            method = "gguf, unpacked"
        return _settings("transformers", int(lm.max_length), model.dtype, "auto", method, text_config)
    return None


def _settings(
    name: str, length: int, dtype: object, kept_as: str, quantization: object, config: object
) -> EngineSettings:
    number = str(dtype).removeprefix("torch.")
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    # transformers has an enumeration.
    quantized = str(getattr(quantization, "value", quantization)) if quantization else None
    cache = number if kept_as == "auto" else kept_as
    return EngineSettings(name, length, number, cache, quantized, _plain(rope) if isinstance(rope, Mapping) else None)


def _plain(value: object) -> Any:
    """Return a value as JSON can have it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)[:200]
