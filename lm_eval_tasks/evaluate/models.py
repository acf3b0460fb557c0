"""Opening a model for `academiceval eval`, and what made its answers."""

import importlib.util
import logging
import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from lm_eval.api.model import LM

from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import text_or_none
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.compat import lm_eval as compat
from lm_eval_tasks.compat.vllm import EngineSettings, errors_kept
from lm_eval_tasks.data import window
from lm_eval_tasks.evaluate.baselines import BaselineLM
from lm_eval_tasks.evaluate.failures import ADVICE
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.given import GivenAnswersLM
from lm_eval_tasks.families.registry import BASELINES
from lm_eval_tasks.llm.tokenizers import check_gguf
from lm_eval_tasks.samples.block import Arguments, MadeWith

_LOGGER = logging.getLogger(__name__)
_LACKING = re.compile(r"missing \d+ required positional arguments?: '(\w+)'")
# The line of a traceback that says what went wrong, and such lines that only point to others.
_CAUSE = re.compile(r"[\w.]*(?:Error|Exception): .")
_POINTER = re.compile(r"See (?:root cause|stack trace)|(?:Engine core|WorkerProc) initialization failed", re.IGNORECASE)
_LONGEST = 200


def open_model(model: str, arguments: Mapping[str, object], generation: Generation) -> LM:
    """Return a baseline, or a model of lm-eval; a ModelError if there is no such model type, its package is not installed, the GPU is
    missing.
    """
    if model in BASELINES:
        return BaselineLM(model)
    if model == GIVEN:
        return GivenAnswersLM(str(arguments.get(GIVEN) or ""))
    device = _usable_device(model, text_or_none(arguments.get("device")) or generation.device)
    if model.startswith("vllm") and importlib.util.find_spec("vllm") is None:
        raise ModelError(f'the model type {model} needs vllm: pip install "academiceval[vllm]"')
    if model == "hf":
        check_gguf(str(arguments.get("pretrained") or ""), str(arguments.get("gguf_file") or ""))
    said: list[str] = []
    try:
        with errors_kept(arguments) if model.startswith("vllm") else nullcontext(said) as said:
            return compat.with_whole_answers(compat.open_model(model, arguments, generation.batch_size, device))
    except Exception as err:  # whatever a library or a GPU may raise
        _LOGGER.debug("the model cannot be opened", exc_info=True)
        lacking = _LACKING.search(str(err)) if isinstance(err, TypeError) else None
        if lacking:
            raise ModelError(f"the model type {model} needs {lacking[1]}=... in --model_args") from err
        shown = ", ".join(f"{key}={value}" for key, value in redact(dict(arguments)).items())
        reason = _why(str(err).strip() or type(err).__name__, said)
        raise ModelError(f"the {model} model {shown[:300]} cannot be opened: {redact(reason)}") from err


def _why(error: str, said: Sequence[str]) -> str:
    """Say why a model cannot be opened, by a library's error and what its processes logged, as a sentence; with what to change if known."""
    lines = [*_causes(said), *_lines(error)]
    lines = [line for line in lines if not _POINTER.search(line)] or lines
    for each in ADVICE["opening"]:
        for line in lines:
            if re.search(each["says"], line, re.IGNORECASE):
                return f"{_short(line)} ({each['advice']})"
    return _short(lines[0])


def _causes(said: Sequence[str]) -> list[str]:
    """Return what the tracebacks in a log end with; of those that led to one another, the last."""
    causes: list[str] = []
    for line in map(str.strip, said):
        if _CAUSE.match(line):
            causes.append(line)
        elif line.startswith("During handling of the above exception") and causes:
            causes.pop()
    return causes


def _lines(error: str) -> list[str]:
    """Return the lines of an error that say something; pydantic's has others around them."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not re.match(r"\d+ validation errors? for ", error):
        return lines
    told = [line.partition(" [type=")[0].removeprefix("Value error, ") for line in lines[1:]]
    told = [line for line in told if not line.startswith("For further information")]
    return [": ".join(told)] if told else lines


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rpartition(' ')[0] or line[:_LONGEST]} ..."


def _usable_device(model: str, device: str | None) -> str | None:
    """Return the device that was asked for; else the processor for models of transformers if there is no GPU, which lm-eval takes for
    granted.
    """
    if not (device.startswith("cuda") if device else model.startswith("hf")):
        return device
    import torch

    if device and not torch.cuda.is_available():
        raise ModelError(f"device {device} was asked for, but there is no GPU here; leave it out, or use cpu")
    return device if device or torch.cuda.is_available() or torch.backends.mps.is_available() else "cpu"


def check_chat_template(lm: LM, model: str, generation: Generation) -> None:
    """Raise a ModelError if prompts are to go through a chat template that the model's tokenizer does not have; warn where they go past
    one, or the model seems to be none that answers.
    """
    tokenizer = getattr(lm, "tokenizer", None)
    if generation.apply_chat_template and not getattr(tokenizer, "chat_template", True):
        raise ModelError(f"the tokenizer of the {model} model has no chat template: leave out --apply_chat_template")
    if tokenizer is None or generation.apply_chat_template:
        return
    if getattr(tokenizer, "chat_template", None):
        _LOGGER.warning(
            "prompts are sent without the model's chat template: --apply_chat_template asks it as it was trained"
        )
    else:
        _LOGGER.warning(
            "the tokenizer of the %s model has no chat template, as base models have none: these follow no instruction and go "
            "on writing up to the longest answer",
            model,
        )


_PACKAGES = "academiceval lm_eval datasets transformers torch vllm openai bert_score rouge_score".split()


def made_with(lm: LM, engine: EngineSettings | None, generation: Generation, arguments: Arguments) -> MadeWith:
    """Return what results say of it.

    Args:
        lm: the opened model.
        engine: its settings.
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.
    """
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    read_with = window.of_model(arguments, str(arguments.get("system_instruction") or ""))
    template = lm.chat_template(True) if generation.apply_chat_template else None
    if engine:
        engine = replace(engine, version=versions.get(engine.name))
    return MadeWith(
        versions=versions,
        chat_template=sha256_of_bytes(template) if template else None,
        window=read_with.served if read_with else None,
        engine=engine,
    )
