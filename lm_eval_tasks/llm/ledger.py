"""What requests to a server may have cost of which nobody told: under way when a run was killed, timed out, or broken off.

Each counts as the most that it can have taken, in later runs of the same journal too, so that a limit of costs holds.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Self

from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.llm.usage import Budget, Means, Usage

# Keys in the journal, which are those of no question.
OPEN, LOST = "requests under way", "requests without usage"
_USAGE = "usage"


def lost_in(journal: Mapping[str, object]) -> tuple[int, Usage]:
    """Read in a journal how many requests were lost, and the most that they can have taken."""
    noted = journal.get(LOST)
    if not isinstance(noted, dict):
        return 0, Usage(0, 0)
    requests = noted.get("requests")
    return requests if isinstance(requests, int) else 0, Usage.of_json(noted.get(_USAGE))


class Ledger:
    """Keeps, in a run's journal, the requests that are under way and those that were lost.

    Args:
        journal: requests that it has as under way are lost, since nobody waits for them any more.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._budget: Budget | None = None
        self._open: list[Usage] = []
        # Requests of texts' likelihoods are sent from several threads.
        self._lock = RLock()
        noted = journal.get(OPEN)
        for most in noted if isinstance(noted, list) else []:
            self._lose(Usage.of_json(most))
        if noted:
            self._write_open()

    def keep_within(self, budget: Budget | None) -> None:
        """Let requests that are lost from now on count for a budget, which `sent` then checks."""
        self._budget = budget

    def sent(self, most: Usage) -> None:
        """Note, before a request is sent, the most that it can take; a CostError if lost ones have used the budget up."""
        with self._lock:
            if self._budget:
                self._budget.check()
            self._open.append(most)
            self._write_open()

    def settled(self, most: Usage) -> None:
        """Note that it is known what a request took: it was answered, or refused."""
        with self._lock:
            if most in self._open:
                self._open.remove(most)
                self._write_open()

    def lost(self, most: Usage) -> None:
        """Note that nobody will tell what a request took."""
        with self._lock:
            self._lose(most)
            if self._budget:
                self._budget.pay(most)
            self.settled(most)

    def _lose(self, most: Usage) -> None:
        requests, before = lost_in(self._journal)
        self._journal.add(LOST, {"requests": requests + 1, _USAGE: most.plus(before).to_json()})

    def _write_open(self) -> None:
        self._journal.add(OPEN, [most.to_json() for most in self._open])


@dataclass(frozen=True, slots=True)
class Purse:
    """What asking may cost, and where it is noted; None for what is not counted.

    Attributes:
        before: bytes of the system prompt, which each prompt whose tokens are known is behind.
    """

    budget: Budget | None = None
    ledger: Ledger | None = None
    before: int = 0

    @classmethod
    def of(cls, journal: Journal, means: Means, usages: Callable[[], Iterable[Usage]]) -> Self:
        """Open the purse of a run that goes on from a journal; `usages` reads there what its answers took."""
        if means.price is None:
            return cls()
        ledger = Ledger(journal)
        budget = means.budget([*usages(), lost_in(journal)[1]])
        ledger.keep_within(budget)
        return cls(budget, ledger)
