"""A fixed sample of the faults of `make faults`: whatever goes wrong, the old state or the new one, and the same command again ends well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.cases import CASES, Case
from tests.faults.harness import Bench
from tests.helpers.warm import Warm

pytestmark = pytest.mark.slow

# Command -> how many of its faults, evenly spread over all of them. What is slow to prepare gets few.
SAMPLE = {"init pdfs": 1, "crawl": 3, "update": 2, "extract": 2, "import": 3, "judge": 1, "report": 1}


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SAMPLE], ids=lambda case: case.name)
def test_a_sample_of_faults(case: Case, warm: Warm, tmp_path: Path) -> None:
    bench = Bench(case, tmp_path / "bench", warm)
    faults = list(bench.faults())
    n = SAMPLE[case.name]
    assert len(faults) > n
    for i in range(n):
        bench.outcome(faults[(2 * i + 1) * len(faults) // (2 * n)])


def test_every_command_that_writes_has_its_case() -> None:
    """What goes to the Hub has faults of its own, at every request: tests/hub_scripts/hub/test_faults.py."""
    from builder.cli import all_commands

    local = {case.argv[0] for case in CASES}
    hub = {"push", "push-results", "verify"}
    # Show only; or are made of the others; or link a folder once, or write small files whole.
    others = {"status", "compare", "link-tasks", "demo", "plan", "show"}
    assert set(all_commands().parsers) == local | hub | others
