"""A deadline for a whole request: `requests` knows only how long it waits for the next bytes, so that a server that sends a byte
a second is never too slow for it.

The connection is shut down from outside when the time is up, wherever the request is: in the handshake, the headers or
the body.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection


class _Twin:
    """A second handle of a connection's socket, which an encrypted socket that takes over the first one does not take over."""

    _twin: socket.socket | None = None
    opened: WeakSet[_Twin]

    def _new_conn(self) -> socket.socket:
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        self._twin = made.dup()
        self.opened.add(self)
        return made

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if self._twin is not None:
            self._twin.close()
            self._twin = None

    def cut(self) -> None:
        if self._twin is not None:
            with suppress(OSError):
                self._twin.shutdown(socket.SHUT_RDWR)


class DeadlineAdapter(HTTPAdapter):
    """Makes connections that `deadline` can end."""

    def __init__(self) -> None:
        self._opened: WeakSet[_Twin] = WeakSet()
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self._guard(self.poolmanager)

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        self._guard(manager)
        return manager

    def _guard(self, manager: Any) -> None:
        plain = type("Plain", (_Twin, HTTPConnection), {"opened": self._opened})
        encrypted = type("Encrypted", (_Twin, HTTPSConnection), {"opened": self._opened})
        manager.pool_classes_by_scheme = {
            "http": type("PlainPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("EncryptedPool", (HTTPSConnectionPool,), {"ConnectionCls": encrypted}),
        }

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[threading.Event]:
        """End all connections if the block takes longer; the event tells whether that happened."""
        late = threading.Event()

        def cut() -> None:
            late.set()
            for connection in list(self._opened):
                connection.cut()

        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()
