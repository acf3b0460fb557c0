"""What of a result file may be shown to others: nothing is told of the machine that made it."""

import json
from pathlib import Path

from lm_eval_tasks.base.places import without_places

# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")


def cleaned(path: Path) -> bytes:
    """Return the content of a file of results without addresses, paths and a description of the machine."""
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    bare = {name: item for name, item in content.items() if name not in _OF_MACHINE}
    return (json.dumps(without_places(bare), indent=2, ensure_ascii=False) + "\n").encode()
