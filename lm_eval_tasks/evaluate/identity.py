"""What tells one model from another, and what it is called."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.files import toml_beside
from lm_eval_tasks.base.redaction import redact, secrets_in
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.families.registry import BASELINES
from lm_eval_tasks.llm.tokenizers import GGUF
from lm_eval_tasks.samples.results import label

# Arguments that say how or where a model is run, not which it is.
RUNTIME: frozenset[str] = frozenset(toml_beside(__file__, "runtime.toml")["arguments"])


def label_of(model: str, arguments: Mapping[str, object], *, full: bool = False) -> str:
    """Return what a model is called in tables and file names: its weights' name, or else its type's; a program always by its own.

    Args:
        full: with its organization or folder, as price tables call it.

    Raises:
        OptionError: the name looks like a key.
    """
    if model in BASELINES:
        return model
    name = str(arguments.get("pretrained") or arguments.get("model") or model).rstrip("/")
    if next(secrets_in(name), None):
        raise OptionError(
            "the model's name looks like a key, which would become the name of a file: give the key in OPENAI_API_KEY"
        )
    # A folder may have several such files.
    return name if full else label(str(arguments.get("gguf_file") or "").removesuffix(GGUF) or name)


def distinguishing(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that make a model another one."""
    # "auto" is what `dtype`, `kv_cache_dtype` and the like are if they are not given.
    return {key: value for key, value in arguments.items() if key not in RUNTIME and value not in (None, "auto")}


def identity_of(model: str, arguments: Mapping[str, object], weights: Mapping[str, str], generation: Generation) -> str:
    """Return what an answer depends on besides the prompt: the model's type, arguments and weights, and how it is prompted."""
    how = {key: value for key, value in asdict(generation).items() if key not in (*RUNTIME, "repeats")}
    # A renewed key does not make another model.
    return json.dumps(
        redact([model, distinguishing(arguments), how, *([weights] if weights else [])]), sort_keys=True, default=str
    )
