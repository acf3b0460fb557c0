"""What a model's library, server or GPU raises, as one sentence that says what to do."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lm_eval_tasks.base.errors import EvalError, ModelError
from lm_eval_tasks.base.files import toml_beside
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.compat.lm_eval_answers import OnRequest, as_given, listening, message_of

_LOGGER = logging.getLogger(__name__)
# What is said when a model cannot be opened or refuses a request -> what to do.
ADVICE: dict[str, list[dict[str, str]]] = toml_beside(__file__, "advice.toml")
# What lm-eval's models raise after the last refusal.
_UNREACHED = re.compile(r"Connection refused|Failed to resolve|Name or service not known|Cannot connect to host")
_REFUSALS = ("HTTPError", "ClientResponseError", "RetryError")


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
        advice = [each["advice"] for each in ADVICE["answering"] if re.search(each["says"], said, re.IGNORECASE)]
        kept = "; ".join(("its answers so far are kept, and the same command resumes from them", *advice))
        raise ModelError(
            f"the model gave up ({'the server says' if said else type(err).__name__}{': ' * bool(reason)}{reason}); {kept}"
        ) from err
