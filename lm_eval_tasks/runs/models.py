"""Opening a model for `academiceval eval`, and a journal of its answers, so that a killed run goes on."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm.auto import tqdm

from lm_eval_tasks.errors import ModelError
from lm_eval_tasks.runs.baselines import BASELINES, BaselineLM
from lm_eval_tasks.runs.logged import JOURNALED

if TYPE_CHECKING:
    from lm_eval_tasks.journal import Journal

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
    import lm_eval.models  # noqa: F401  registers the model types
    from lm_eval.api.registry import get_model

    _check_device(arguments.get("device") or generation.device)
    if model == "vllm" and importlib.util.find_spec("vllm") is None:
        raise ModelError('the model type vllm needs vllm: pip install "academiceval[vllm]"')
    try:
        kind = get_model(model)
    except (ValueError, KeyError) as err:
        raise ModelError(
            f"lm-eval has no model type {model!r}, and it is no baseline ({', '.join(BASELINES)})"
        ) from err
    try:
        return kind.create_from_arg_obj(
            dict(arguments), {"batch_size": generation.batch_size, "max_batch_size": None, "device": generation.device}
        )
    except (OSError, ModuleNotFoundError, AssertionError, TypeError) as err:
        told = str(err).strip().splitlines() or [type(err).__name__]
        raise ModelError(f"the {model} model {dict(arguments)} cannot be opened: {told[0][:200]}") from err


def _check_device(device: object) -> None:
    if device and str(device).startswith("cuda"):
        import torch

        if not torch.cuda.is_available():
            raise ModelError(f"device {device} was asked for, but there is no GPU here; leave it out, or say cpu")


def journaled(lm: LM, identity: str, journal: Journal) -> LM:
    """Let a model look up its answers in a journal, and note each new one there.

    Args:
        identity: what tells the model apart, see `identity_of`.
    """
    generate = lm.generate_until

    def generate_until(requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        keys = [key_of(request, identity) for request in requests]
        missing = [i for i, key in enumerate(keys) if key not in journal]
        with tqdm(
            total=len(keys), initial=len(keys) - len(missing), desc="answers", disable=disable_tqdm or None
        ) as bar:
            for start in range(0, len(missing), _CHUNK):
                part = missing[start : start + _CHUNK]
                for i, answer in zip(part, generate([requests[i] for i in part], disable_tqdm=True), strict=True):
                    journal.add(keys[i], answer, doc={name: requests[i].doc.get(name) for name in JOURNALED})
                bar.update(len(part))
        return [journal[key] for key in keys]

    lm.generate_until = generate_until
    return lm


def identity_of(model: str, arguments: Mapping[str, Any], generation: Generation) -> str:
    """What an answer depends on beside the prompt: the model's type and arguments, and how it is prompted."""
    which = {key: value for key, value in arguments.items() if key not in _RUNTIME}
    how = {key: value for key, value in asdict(generation).items() if key not in _RUNTIME}
    return json.dumps([model, which, how], sort_keys=True, default=str)


def key_of(request: Instance, identity: str) -> str:
    """sha256 over sample, prompt, model and generation arguments."""
    prompt, arguments = request.args
    content = json.dumps(
        [request.task_name, request.doc["id"], str(prompt), arguments, identity], sort_keys=True, default=str
    )
    return hashlib.sha256(content.encode()).hexdigest()
