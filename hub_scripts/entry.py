"""What `academiceval` starts: the command, or one sentence if a folder of the user's stands in its way."""

import sys
from importlib.util import find_spec
from pathlib import Path

_OURS = ("builder", "lm_eval_tasks")


def main() -> int:
    """Run the command and return its exit code."""
    here = Path(__file__).resolve().parents[1]
    for name in _OURS:
        place = _place_of(name)
        if place and place.parent != here:
            sys.stderr.write(
                f"error: {place} is found in place of AcademicEval's own package {name!r}: take {place.parent} off PYTHONPATH, "
                "or give that folder another name\n"
            )
            return 1
    from builder.cli import main as run

    return run()


def _place_of(name: str) -> Path | None:
    """Return the folder that a package is loaded from; None if that is not known."""
    spec = find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]).resolve() if places else None
