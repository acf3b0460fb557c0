"""The audit of a dataset folder, which is not repeated while the files and the code stay the same.

What it found is kept in the cache folder, under a hash of the data files' hashes and of the code; whoever changes either
has the folder audited again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from builder.dataset.audit import audit
from builder.dataset.manifest import Audit, Configuration
from lm_eval_tasks.core.files import cache_folder, sha256_of_bytes, write_whole
from lm_eval_tasks.core.version import code_version

if TYPE_CHECKING:
    from lm_eval_tasks.engines.base import Engine

_ADAPTER = TypeAdapter(Audit)


def audited(folder: Path, configurations: Sequence[Configuration], engine: Engine | None = None) -> Audit:
    """What `audit` finds in a folder, or found in the same files before.

    Args:
        configurations: with the hashes that the folder's files have.
        engine: runs the work; without one, this process does it.
    """
    kept = cache_folder() / "audits" / f"{_state(configurations)}.json"
    with suppress(OSError, ValidationError):
        known = _ADAPTER.validate_json(kept.read_bytes())
        if known.samples == sum(one.samples for one in configurations if one.form == "full"):
            return known
    found = audit(folder, configurations, engine)
    # A cache that cannot be written costs time only.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, _ADAPTER.dump_json(found))
    return found


def _state(configurations: Sequence[Configuration]) -> str:
    files = [
        (one.name, one.form, one.task, *((file.path, file.sha256) for file in one.every_file)) for one in configurations
    ]
    return sha256_of_bytes(json.dumps([code_version(), files]))
