"""`vllm`, as lm-eval's model type of that name runs it: each answer as the engine ends it, with what the engine says about it.

What we touch, from vLLM 0.10.2 and lm-eval 0.4.12 on; `tests/lm_eval_tasks/test_vllm.py` holds all of it against an installed engine:

- `LLM.llm_engine.step`, whose outputs are `RequestOutput`s: `finished`, `prompt_token_ids`, `num_cached_tokens` and `outputs`;
- of an answer, a `CompletionOutput`: `text`, `token_ids` and `finish_reason`;
- of `LLM.llm_engine.vllm_config`: `model_config` (`dtype`, `quantization`, `max_model_len`, `hf_text_config`) and
  `cache_config.cache_dtype` (`compat/engine_settings.py`); `vllm.logger.DEFAULT_LOGGING_CONFIG` (`compat/engine_output.py`);
- of lm-eval's `VLLM`: `model`, `tok_encode` and `_model_generate`, and the `Collator` of its module (`compat/lm_eval_answers.py`);
- the words of its errors (`evaluate/models.py`).

A public way would be a callback of `LLM.generate` for each answer that ends.
"""

from __future__ import annotations

import array
import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any


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
        pairs = [(text, ids)] if isinstance(text, str) else zip(text, ids, strict=True)
        for prompt, prompt_ids in pairs:
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
    """The usage as a server would say it, and why the answer ended."""
    answer = output.outputs[0]
    usage = {
        "prompt_tokens": len(output.prompt_token_ids or ()),
        "completion_tokens": len(answer.token_ids),
        "prompt_tokens_details": {"cached_tokens": getattr(output, "num_cached_tokens", None)},
    }
    return usage, str(answer.finish_reason or "")


def _digest(ids: Sequence[int]) -> bytes:
    return hashlib.sha256(array.array("I", ids).tobytes()).digest()
