"""What a model's library, server or GPU raises, as one sentence that says what to do."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lm_eval_tasks.base.errors import EvalError, ModelError
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.compat.lm_eval_answers import OnRequest, as_given, listening, message_of

_LOGGER = logging.getLogger(__name__)
# In what a server says of a prompt that is too long for its model.
_CONTEXT = re.compile(r"context|too long|max_model_len|maximum.{0,20}length", re.IGNORECASE)
# What lm-eval's models raise after the last refusal.
_UNREACHED = re.compile(r"Connection refused|Failed to resolve|Name or service not known|Cannot connect to host")
_REFUSALS = ("HTTPError", "ClientResponseError", "RetryError")
# What a server says -> what to do.
_HINTS = {
    _CONTEXT: "; so that prompts are cut to the model's context, name tokenizer and max_length in --model_args",
    re.compile(r"unsupported|unrecognized|unknown (?:field|param)|not permitted", re.IGNORECASE): (
        "; leave a parameter that it refuses out with --gen_kwargs NAME=omit"
    ),
    re.compile(r"api.?key|authenti|unauthori[sz]ed", re.IGNORECASE): "; give its key in the variable OPENAI_API_KEY",
}


@contextmanager
def in_one_sentence(lm: Any, on_request: OnRequest) -> Iterator[None]:
    """Let a model be asked within this block.

    Args:
        on_request: called with what becomes of each request to a server.

    Raises:
        ModelError: whatever the model raises.
    """
    refused: list[str] = []
    try:
        with listening() as refused, as_given(on_request):
            yield
    except (EvalError, NotImplementedError):
        raise
    except Exception as err:  # whatever a library, a server or a GPU may raise
        _LOGGER.debug("the model gave up", exc_info=True)
        if _UNREACHED.search(str(err)):
            raise ModelError(
                f"nothing answers at {redact(str(getattr(lm, 'base_url', '') or 'its address'))}: start the server there, or "
                "correct base_url; answers so far are kept"
            ) from err
        said = message_of(refused[-1]) if refused and type(err).__name__ in _REFUSALS else ""
        reason = " ".join(str(redact(said or str(err))).split())[:300]
        raise ModelError(
            f"the model gave up ({'the server says' if said else type(err).__name__}{': ' * bool(reason)}{reason}); its answers so far "
            f"are kept, and the same command resumes from them{''.join(hint for form, hint in _HINTS.items() if form.search(said))}"
        ) from err
