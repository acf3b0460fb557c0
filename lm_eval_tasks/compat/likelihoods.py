"""Likelihoods of given texts by the models of lm-eval, token by token.

`LM.loglikelihood` is public and gives a sum. It has three traps for long prompts: it computes the logits of every position, which for 16K
tokens takes 15 GB; it cuts a prompt that is too long from the left, so that the instruction goes first; and it moves the white space before
the text into what is scored and encodes both together, so that the border may fall inside a token. Here prompt and text are encoded apart,
and logits are computed for the text alone. A public way would be a function of `LM` that takes tokens and returns a number for each.

What we touch: of `HFLM` `model`, `tokenizer`, `backend`, `device` and `tok_encode`; of `VLLM` `model` and `tokenizer`; of
`LocalCompletionsAPI` `tokenizer`, `model_call`, `max_retries` and `_concurrent`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.compat.scored_texts import Encoded, Question, Scored, encode

# Model types of lm-eval that say how likely a given text is.
MODEL_TYPES = ("hf", "hf-auto", "huggingface", "vllm", "local-completions")
# What vLLM is opened with, unless the user says otherwise: values at cached positions can be stale (vllm#42245), and logits are computed
# for a whole step.
OF_VLLM = {"enable_prefix_caching": False, "max_num_batched_tokens": 2048}
# Tokens that go through a model together: of a prompt, and of a text, whose logits are kept.
_PREFILL, _SCORED = 2048, 256
# Prompts that vLLM is given together.
_TOGETHER = 16


# Yields the number of each question with its answer, as soon as it is there: what was paid for can be noted though another one fails.
Scorer = Callable[[Sequence[Question]], Iterator[tuple[int, Scored]]]


def scorer_of(lm: Any) -> Scorer:
    """Return what scores texts by a model.

    Raises:
        ModelError: it does not tell how likely a given text is, or has no tokenizer here.
    """
    if hasattr(lm, "likelihoods_of"):
        return lambda questions: enumerate(map(lm.likelihoods_of, questions))
    if getattr(lm, "tokenizer", None) is None:
        raise ModelError(
            "texts are scored token by token, for which the model's tokenizer must be here: add tokenizer=... to --model_args"
        )
    if hasattr(getattr(lm, "model", None), "llm_engine"):
        return lambda questions: enumerate(_by_vllm(lm, questions))
    if hasattr(lm, "parse_logprobs") and hasattr(lm, "model_call"):
        return lambda questions: _by_server(lm, questions)
    if getattr(lm, "backend", "") == "causal":
        return lambda questions: enumerate(_by_transformers(lm, question) for question in questions)
    raise ModelError(
        f"this model does not tell how likely a given text is; model types of lm-eval that do are {', '.join(MODEL_TYPES)}"
    )


def score(lm: Any, questions: Sequence[Question]) -> list[Scored]:
    """Return the answers to all questions, in their order."""
    known = dict(scorer_of(lm)(questions))
    return [known[number] for number in range(len(questions))]


# --- transformers


def _by_transformers(lm: Any, question: Question) -> Scored:
    import torch

    encoded = encode(lm, question)
    with torch.inference_mode():
        if len(encoded.texts) == 1:
            logs = [_logs(lm, [*encoded.prompt, *encoded.texts[0]], len(encoded.prompt), None)]
        else:
            logs = _of_several(lm, encoded)
    return encoded.scored(logs, prompts_read=1)


def _of_several(lm: Any, encoded: Encoded) -> list[list[float]]:
    """Return the logarithms of several texts behind a prompt that is read once."""
    *head, last = encoded.prompt
    cache: Any = None
    for ids in batches(head, _PREFILL):
        _, cache = _forward(lm, ids, cache, keep=1)
    if all(len(ids) == 1 for ids in encoded.texts):
        logits, _ = _forward(lm, [last], cache, keep=1)
        return [_chosen(logits, ids) for ids in encoded.texts]
    # What one text adds to the cache is not behind the next one.
    return [_logs(lm, [last, *ids], 1, copy.deepcopy(cache)) for ids in encoded.texts]


def _logs(lm: Any, ids: Sequence[int], first: int, cache: Any) -> list[float]:
    """Return the logarithm of the probability of each token from the first that is asked for on, behind what is in the cache.

    Tokens are read in parts, of which a part keeps the logits that are asked for, and few of them.
    """
    logs: list[float] = []
    start, last = 0, len(ids) - 1
    while start < last:
        end = min(start + _PREFILL, last)
        if end >= first:
            end = min(max(start, first - 1) + _SCORED, last)
        keep = max(0, end - max(start, first - 1))
        logits, cache = _forward(lm, ids[start:end], cache, keep=max(1, keep))
        logs += _chosen(logits[-keep:], ids[end - keep + 1 : end + 1]) if keep else []
        start = end
    return logs


def _forward(lm: Any, ids: Sequence[int], cache: Any, *, keep: int) -> tuple[Any, Any]:
    """Return the logits of the last tokens, shape (tokens, vocabulary), and the cache of keys and values."""
    import torch

    # Of most models; those with code of their own may compute the logits of each position.
    keeping = {"logits_to_keep": keep} if "logits_to_keep" in inspect.signature(lm.model.forward).parameters else {}
    tokens = torch.tensor([list(ids)], device=lm.device)
    output = lm.model(input_ids=tokens, past_key_values=cache, use_cache=True, **keeping)
    if getattr(output, "past_key_values", None) is None:
        raise ModelError(
            "a model without a cache of keys and values cannot read a prompt in parts: score it through vllm"
        )
    return output.logits[0][-keep:], output.past_key_values


def _chosen(logits: Any, ids: Sequence[int]) -> list[float]:
    import torch

    wide = logits.float()
    chosen = wide.gather(1, torch.tensor(list(ids), device=wide.device)[:, None])[:, 0]
    logs: list[float] = (chosen - wide.logsumexp(dim=1)).tolist()
    return logs


# --- vLLM


def _by_vllm(lm: Any, questions: Sequence[Question]) -> Iterator[Scored]:
    from vllm import SamplingParams, TokensPrompt

    settings = SamplingParams(temperature=0, prompt_logprobs=1, max_tokens=1, detokenize=False)
    for together in batches(questions, _TOGETHER):
        all_encoded = [encode(lm, question) for question in together]
        prompts = [
            TokensPrompt(prompt_token_ids=[*encoded.prompt, *ids]) for encoded in all_encoded for ids in encoded.texts
        ]
        outputs = iter(lm.model.generate(prompts, settings, use_tqdm=False))
        for encoded in all_encoded:
            logs = [_of_output(next(outputs).prompt_logprobs, len(encoded.prompt), ids) for ids in encoded.texts]
            yield encoded.scored(logs, prompts_read=len(logs))


def _of_output(known: Sequence[Any], start: int, ids: Sequence[int]) -> list[float]:
    """Return the logarithms of a prompt's last tokens, which vLLM gives as a dictionary for each."""
    numbers = [known[start + place][id_] for place, id_ in enumerate(ids)]
    return [float(getattr(number, "logprob", number)) for number in numbers]


# --- a server that repeats the prompt with its tokens' probabilities


def _by_server(lm: Any, questions: Sequence[Question]) -> Iterator[tuple[int, Scored]]:
    together = max(1, int(getattr(lm, "_concurrent", 1) or 1))
    failed: BaseException | None = None
    with ThreadPoolExecutor(together) as threads:
        # No more than are asked at once, so that a failure leaves nothing to be asked.
        waiting = iter(enumerate(questions))
        asked = {threads.submit(_of_server, lm, question): i for i, question in islice(waiting, together)}
        while asked:
            done, _ = wait(asked, return_when=FIRST_COMPLETED)
            for future in done:
                number = asked.pop(future)
                error = future.exception()
                failed = failed or error
                if error is None:
                    yield number, future.result()
                for i, question in islice(waiting, 0 if failed else 1):
                    asked[threads.submit(_of_server, lm, question)] = i
    if failed:
        raise failed


def _of_server(lm: Any, question: Question) -> Scored:
    from tenacity import Retrying, stop_after_attempt, wait_exponential

    encoded = encode(lm, question)
    logs = []
    for ids in encoded.texts:
        tries = Retrying(
            stop=stop_after_attempt(max(1, int(lm.max_retries))), wait=wait_exponential(0.5, 10), reraise=True
        )
        response = tries(lm.model_call, messages=[[*encoded.prompt, *ids]], generate=False)
        logs.append(_of_response(response, len(encoded.prompt), ids))
    return encoded.scored(logs, prompts_read=len(logs))


def _of_response(response: Any, start: int, ids: Sequence[int]) -> list[float]:
    first = response[0] if isinstance(response, list) and response else response
    choices = first.get("choices") if isinstance(first, dict) else None
    said = choices[0].get("logprobs") if choices and isinstance(choices[0], dict) else None
    known = said.get("token_logprobs") if isinstance(said, dict) else None
    usage = first.get("usage") if isinstance(first, dict) else None
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    # A token is written behind the text, which some servers repeat too: only what they have read tells it from one put before the text.
    more = len(known) - start - len(ids) if isinstance(known, list) else -1
    if more == 1 and read is None:
        raise ModelError(
            "the server repeats one token more than it was sent and does not say how many it read (`usage`): nobody can tell before or "
            "behind the text"
        )
    logs = known[start : start + len(ids)] if isinstance(known, list) and more in (0, 1) else []
    if len(logs) != len(ids) or not all(isinstance(log, int | float) for log in logs):
        raise ModelError(
            "the server does not say how likely the tokens of a given text are (`echo` with `logprobs`): serve the model with vLLM, or "
            "open it with the model type hf"
        )
    if read not in (None, start + len(ids)):
        raise ModelError(
            f"the server read {read} tokens where {start + len(ids)} were sent: name the tokenizer of the model that it serves, and let it "
            "put no token before them"
        )
    return [float(log) for log in logs]
