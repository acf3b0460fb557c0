"""Opening a model for `academiceval eval`, and a journal of its answers, so that a killed run goes on."""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm.auto import tqdm

from lm_eval_tasks.compat import lm_eval as compat
from lm_eval_tasks.errors import ModelError
from lm_eval_tasks.files import sha256_of_bytes
from lm_eval_tasks.metrics import refine
from lm_eval_tasks.redaction import redacted
from lm_eval_tasks.runs.baselines import BASELINES, BaselineLM
from lm_eval_tasks.runs.logged import JOURNALED

if TYPE_CHECKING:
    from lm_eval_tasks.journal import Journal

_LOGGER = logging.getLogger(__name__)
# Requests that are generated and journaled together: enough for an engine to be busy, few enough to lose.
_CHUNK = 64
# Arguments that say how a model is run, not which it is.
_RUNTIME = frozenset(
    "batch_size max_batch_size device num_concurrent max_retries timeout gpu_memory_utilization tensor_parallel_size "
    "data_parallel_size enforce_eager enable_prefix_caching swap_space".split()
)


@dataclass(frozen=True, slots=True)
class Generation:
    """How a run generates, as lm-eval's options of the same names."""

    batch_size: str = "1"
    device: str | None = None
    apply_chat_template: bool = False
    system_instruction: str | None = None
    gen_kwargs: str = ""


def open_model(model: str, arguments: Mapping[str, Any], generation: Generation) -> LM:
    """A baseline, or a model of lm-eval.

    Raises:
        ModelError: there is no such model type, its package is not installed, the weights or the GPU are not there.
    """
    if model in BASELINES:
        return BaselineLM(model)
    _check_device(arguments.get("device") or generation.device)
    if model == "vllm" and importlib.util.find_spec("vllm") is None:
        raise ModelError('the model type vllm needs vllm: pip install "academiceval[vllm]"')
    try:
        return compat.open_model(model, arguments, generation.batch_size, generation.device)
    except KeyError as err:
        raise ModelError(
            f"lm-eval has no model type {model!r}, and it is no baseline ({', '.join(BASELINES)})"
        ) from err
    except (OSError, ModuleNotFoundError, AssertionError, TypeError) as err:
        lines = str(err).strip().splitlines() or [type(err).__name__]
        raise ModelError(f"the {model} model {dict(arguments)} cannot be opened: {lines[0][:200]}") from err


def _check_device(device: object) -> None:
    if device and str(device).startswith("cuda"):
        import torch

        if not torch.cuda.is_available():
            raise ModelError(f"device {device} was asked for, but there is no GPU here; leave it out, or say cpu")


class JournaledLM(LM):  # type: ignore[misc]
    """A model that looks up its answers in a journal, and notes each new one there as soon as the model has it.

    Args:
        identity: what tells the model apart, see `identity_of`.
    """

    def __init__(self, lm: LM, identity: str, journal: Journal) -> None:
        super().__init__()
        self._lm, self._identity, self._journal = lm, identity, journal
        self._waiting: dict[str, list[Instance]] = {}
        # Answers of this run that are empty: an API that failed looks the same, so that the next run asks again.
        self._empty: set[str] = set()
        lm.set_cache_hook(compat.AnswerHook(self._note_early))

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        keys = [key_of(request, self._identity) for request in requests]
        self._empty = set()
        missing = [i for i, key in enumerate(keys) if key not in self._journal]
        with tqdm(
            total=len(keys), initial=len(keys) - len(missing), desc="answers", disable=disable_tqdm or None
        ) as bar:
            for start in range(0, len(missing), _CHUNK):
                part = [requests[i] for i in missing[start : start + _CHUNK]]
                self._generate(part)
                bar.update(len(part))
        if self._empty:
            _LOGGER.warning(
                "%d of %d answers are empty; they are scored so, and the same command asks again",
                len(self._empty),
                len(keys),
            )
        return [
            _from_its_beginning(request, self._journal.get(key, ""))
            for request, key in zip(requests, keys, strict=True)
        ]

    def _generate(self, requests: list[Instance]) -> None:
        self._waiting = {}
        for request in requests:
            self._waiting.setdefault(_asked(request.args), []).append(request)
        answers = self._lm.generate_until(requests, disable_tqdm=True)
        # A model that does not tell its answers early, or tells other prompts than it was given, has told them now.
        for request, answer in zip(requests, answers, strict=True):
            self._note(request, answer)

    def _note_early(self, asked: tuple[Any, ...], answer: str) -> None:
        for request in self._waiting.pop(_asked(asked), ()):
            self._note(request, answer)

    def _note(self, request: Instance, answer: str) -> None:
        key = key_of(request, self._identity)
        if not answer.strip():
            self._empty.add(key)
        elif key not in self._journal:
            self._journal.add(key, answer, doc={name: request.doc.get(name) for name in JOURNALED})

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        return self._lm.loglikelihood(requests, disable_tqdm=disable_tqdm)

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        return self._lm.loglikelihood_rolling(requests, disable_tqdm=disable_tqdm)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> Any:
        return self._lm.apply_chat_template(chat_history, add_generation_prompt=add_generation_prompt)

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        template: str | None = self._lm.chat_template(chat_template)
        return template

    @property
    def tokenizer_name(self) -> str:
        return str(self._lm.tokenizer_name)

    @property
    def rank(self) -> int:
        return int(self._lm.rank)

    @property
    def world_size(self) -> int:
        return int(self._lm.world_size)


def _from_its_beginning(request: Instance, answer: str) -> str:
    """An answer with the mark of reasoning that the chat template has written for the model."""
    mark = refine.opened(str(request.args[0])) if answer else ""
    return answer if answer.lstrip().startswith(mark) else mark + answer


def _asked(arguments: tuple[Any, ...]) -> str:
    """What a prompt and its generation arguments go by in the hook."""
    return json.dumps([str(arguments[0]), arguments[1]], sort_keys=True, default=str)


def identity_of(model: str, arguments: Mapping[str, Any], generation: Generation) -> str:
    """What an answer depends on beside the prompt: the model's type and arguments, and how it is prompted."""
    which = {key: value for key, value in arguments.items() if key not in _RUNTIME}
    how = {key: value for key, value in asdict(generation).items() if key not in _RUNTIME}
    # A key that was renewed makes no other model.
    return json.dumps(redacted([model, which, how]), sort_keys=True, default=str)


def key_of(request: Instance, identity: str) -> str:
    """sha256 over sample, prompt, model and generation arguments."""
    prompt, arguments = request.args
    content = json.dumps(
        [request.task_name, request.doc["id"], str(prompt), arguments, identity], sort_keys=True, default=str
    )
    return sha256_of_bytes(content)
