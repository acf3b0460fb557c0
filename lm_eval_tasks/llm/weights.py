"""Whether the weights of a model are to be had, before a library tries for half a minute."""

from __future__ import annotations

import re
from pathlib import Path

from lm_eval_tasks.core.errors import ModelError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
# For the Hub to say whether it has a model.
_SECONDS = 10.0


def check_weights(name: str) -> None:
    """Raise a ModelError for a model of the Hub that is neither in the cache nor to be had.

    Args:
        name: a Hub id; folders and anything else pass.
    """
    if not _HUB_ID.fullmatch(name) or Path(name).exists():
        return
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    from lm_eval_tasks.compat.huggingface_hub import HTTPError

    if isinstance(try_to_load_from_cache(name, "config.json"), str):
        return
    try:
        HfApi().model_info(name, timeout=_SECONDS)
    except RepositoryNotFoundError as err:
        raise ModelError(f"the Hub has no model {name!r}, or it needs a login (`hf auth login`)") from err
    except HfHubHTTPError:
        return  # whatever the Hub refuses here, the library that loads the model says more
    except (OSError, OfflineModeIsEnabled, HTTPError) as err:
        raise ModelError(
            f"the model {name!r} is not in the cache here, and the Hub cannot be reached: fetch it where there is a network "
            f"(`hf download {name}`), or name a folder"
        ) from err
