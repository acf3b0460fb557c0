"""The engine of a Ray cluster (extra `ray`).

Every node needs the same release of this software, and a function's files where it looks for them: on a file system that all
nodes share, or in an object store.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing import get_context
from types import TracebackType
from typing import Any, TypeVar

from lm_eval_tasks.engines.ray_driver import OtherCode, drive
from lm_eval_tasks.errors import EngineError

_LOGGER = logging.getLogger(__name__)
_T = TypeVar("_T")
_R = TypeVar("_R")
# Batches for each processor that are handed to Ray together.
_AHEAD = 4
_TO_CONNECT = 60.0
# How long a head that was there once may be away.
_TO_COME_BACK = 600.0
_BETWEEN = 5.0
# After so many seconds without a result it is asked whether the cluster is still the same.
_SILENCE = 30.0


class RayEngine:
    """Runs functions on a cluster.

    Args:
        address: of its head, "host:port"; "auto" for the cluster that this machine is a node of. Default: RAY_ADDRESS.
        patience: seconds that a head which was there once may be away before the work is given up.

    Raises:
        EngineError: there is no such cluster, or Ray is not installed.
    """

    def __init__(self, address: str = "", patience: float = _TO_COME_BACK) -> None:
        if importlib.util.find_spec("ray") is None:
            raise EngineError('the engine ray needs Ray: pip install "academiceval[ray]"')
        self._address = address or os.environ.get("RAY_ADDRESS", "auto")
        self._patience = patience
        self._driver = _Driver(self._address)

    def map(self, function: Callable[[_T], _R], items: Iterable[_T], at_once: int = 1) -> Iterator[_R]:
        waiting = iter(items)
        while window := list(islice(waiting, at_once * _AHEAD * max(1, self._driver.processors))):
            batches = [window[i : i + at_once] for i in range(0, len(window), at_once)]
            done = 0
            while done < len(batches):
                for results in self._results(function, batches[done:]):
                    done += 1
                    yield from results

    def _results(self, function: Callable[[Any], Any], batches: list[list[Any]]) -> Iterator[list[Any]]:
        """The results of batches, as far as they come before the head goes; it is there again afterwards."""
        try:
            self._driver.channel.send((function, batches))
            while (found := self._next()) is not None:
                if isinstance(found, Exception):
                    raise self._explained(found)
                yield found
        except (EOFError, OSError):
            self._reconnect()

    def _next(self) -> Any:
        """What the driver sends next; an EOFError where it works for a cluster that another has taken the place of."""
        while not self._driver.channel.poll(_SILENCE):
            # A head that was started again at once has the old one's address, and the driver waits for the old one.
            probe = _Driver(self._address)
            known, self._driver = self._driver, probe
            if known.nodes.isdisjoint(probe.nodes):
                known.close()
                raise EOFError
            self._driver = known
            probe.close()
        return self._driver.channel.recv()

    def _explained(self, err: Exception) -> Exception:
        if isinstance(err, OtherCode):
            return EngineError(
                f"the Ray cluster at {self._address} has other code: {err}; install the same on every node"
            )
        if type(err).__module__.startswith("ray"):
            reason = str(err).strip().rpartition("\n")[2]
            return EngineError(f"the Ray cluster at {self._address} could not do the work: {reason}")
        return err

    def _reconnect(self) -> None:
        """Wait until the head is there again."""
        _LOGGER.warning("the head of the Ray cluster at %s is gone; waiting for it to come back", self._address)
        until = time.monotonic() + self._patience
        while not self._driver.process.is_alive():
            try:
                self._driver = _Driver(self._address)
            except EngineError as err:
                if time.monotonic() > until:
                    raise EngineError(
                        f"the head of the Ray cluster at {self._address} did not come back within {self._patience:.0f} s; "
                        "start it and give the same command again"
                    ) from err
                time.sleep(_BETWEEN)

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._driver.close()


class _Driver:
    """A process that is connected to a cluster.

    Attributes:
        processors: of the cluster, when it connected.
        nodes: the ids of its nodes then.

    Raises:
        EngineError: there is no cluster.
    """

    def __init__(self, address: str) -> None:
        context = get_context("spawn")
        self.channel, theirs = context.Pipe()
        self.process = context.Process(target=drive, args=(theirs, address, os.getpid()))
        self.process.start()
        theirs.close()
        answer: tuple[Any, ...] = ("absent", "no answer")
        try:
            if self.channel.poll(_TO_CONNECT):
                answer = self.channel.recv()
        except EOFError:
            answer = ("absent", "its head does not answer")
        if answer[0] != "connected":
            self.close()
            raise EngineError(
                f"there is no Ray cluster at {address} ({answer[1]}): start one with `ray start --head`, or name another with "
                "RAY_ADDRESS"
            )
        self.processors: int = answer[1]
        self.nodes: frozenset[str] = answer[2]

    def close(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.join()
