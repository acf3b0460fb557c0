"""The engine of a Ray cluster (extra `ray`).

Every node needs the same release of this software, and a function's files where it looks for them: on a file system that all
nodes share, or in an object store.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

from lm_eval_tasks.base.errors import EngineError
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.engines.ray_driver import OtherCode, drive

_LOGGER = logging.getLogger(__name__)
_T = TypeVar("_T")
_R = TypeVar("_R")
# Batches for each processor that are handed to Ray together; between two such lots processors may wait for the last batch.
_AHEAD = 16
_TO_CONNECT = 60.0
_BETWEEN = 5.0
# After this time without a result the engine checks whether the cluster is still the same.
_SILENCE = 30.0


class RayEngine(AbstractContextManager["RayEngine"]):
    """Runs functions on a cluster.

    Args:
        address: of its head, "host:port"; "auto" for the cluster that this machine is a node of. Default: RAY_ADDRESS.
        patience: seconds that a head which was once reachable may be away before the work is given up.

    Raises:
        EngineError: there is no such cluster, or Ray is not installed.
    """

    def __init__(self, address: str = "", patience: float = 600.0) -> None:
        if importlib.util.find_spec("ray") is None:
            raise EngineError('the engine ray needs Ray: pip install "academiceval[ray]"')
        self._address = address or os.environ.get("RAY_ADDRESS", "")
        if not self._address:
            raise EngineError(
                "the engine ray needs RAY_ADDRESS, the HOST:PORT of the cluster's head (`ray start --head` prints it)"
            )
        self._patience = patience
        self._idle = [_Driver(self._address)]

    def map(
        self, function: Callable[[_T], _R], items: Iterable[_T], at_once: int = 1, *, large: bool = False
    ) -> Iterator[_R]:
        waiting = iter(items)
        driver = self._idle.pop() if self._idle else _Driver(self._address)
        try:
            while lot := list(islice(waiting, at_once * _AHEAD * max(1, driver.processors))):
                left = batches(lot, at_once)
                while left:
                    done = 0
                    try:
                        for results in driver.results(function, left):
                            done += 1
                            yield from self._check_results(results)
                    except _Gone:
                        driver.close()
                        driver = self._reconnect()
                    left = left[done:]
        except BaseException:
            # It may still be at work for this call.
            driver.close()
            raise
        self._idle.append(driver)

    def _check_results(self, results: list[Any] | Exception) -> list[Any]:
        if isinstance(results, OtherCode):
            raise EngineError(
                f"the Ray cluster at {self._address} has different code: {results}; install the same on every node"
            )
        if isinstance(results, Exception):
            if type(results).__module__.startswith("ray"):
                reason = str(results).strip().rpartition("\n")[2]
                raise EngineError(f"the Ray cluster at {self._address} could not do the work: {reason}")
            raise results
        return results

    def _reconnect(self) -> _Driver:
        _LOGGER.warning("the head of the Ray cluster at %s is gone; waiting for it to come back", self._address)
        until = time.monotonic() + self._patience
        while True:
            try:
                return _Driver(self._address)
            except EngineError as err:
                if time.monotonic() > until:
                    raise EngineError(
                        f"the head of the Ray cluster at {self._address} did not come back within {self._patience:.0f} s; "
                        "start it and run the same command again"
                    ) from err
                time.sleep(_BETWEEN)

    def __exit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().close()


class _Gone(Exception):
    """The cluster that a driver works for no longer exists."""


class _Driver:
    """A process that is connected to a cluster, for one call at a time.

    Attributes:
        processors: of the cluster, when it was last asked.
        nodes: the ids of its nodes when it connected.

    Raises:
        EngineError: there is no cluster.
    """

    def __init__(self, address: str) -> None:
        context = get_context("spawn")
        self._address = address
        self._channel, theirs = context.Pipe()
        self._process = context.Process(target=drive, args=(theirs, address, os.getpid()))
        self._process.start()
        theirs.close()
        answer: tuple[Any, ...] = ("absent", f"no answer within {_TO_CONNECT:.0f} s")
        try:
            if self._channel.poll(_TO_CONNECT):
                answer = self._channel.recv()
        except EOFError:
            answer = ("absent", "its head does not answer")
        if answer[0] != "connected":
            self.close()
            raise EngineError(
                f"cannot connect to a Ray cluster at {address} ({answer[1]}): check that `ray start --head` runs there, "
                "that RAY_ADDRESS names it, and that both have the same token if it asks for one"
            )
        self.processors: int = answer[1]
        self.nodes: frozenset[str] = answer[2]

    def results(self, function: Callable[[Any], Any], lots: Sequence[Sequence[Any]]) -> Iterator[list[Any] | Exception]:
        """Yield the results of batches in their order; an exception in place of missing ones. A _Gone if the cluster ended on the way."""
        try:
            self._channel.send((function, lots))
            while not isinstance(message := self._next(), int):
                yield message
        except (EOFError, BrokenPipeError, ConnectionError) as err:
            raise _Gone from err
        self.processors = message

    def _next(self) -> Any:
        silence = _SILENCE
        while not self._channel.poll(silence):
            silence *= 2  # a batch may take long
            # A head that was restarted at once has the address of the old one, for which this driver is still waiting.
            try:
                probe = _Driver(self._address)
            except EngineError as err:
                raise _Gone from err
            probe.close()
            if self.nodes.isdisjoint(probe.nodes):
                raise _Gone
        return self._channel.recv()

    def close(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.join()
