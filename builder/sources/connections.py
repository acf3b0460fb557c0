"""Connections of `requests` that can be ended from outside, wherever their request is.

`requests` knows only how long it waits for the next bytes, so that a server that sends a byte a second is never too slow for it;
and a request that is merely given up would keep its connection, where arXiv allows one.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection


class EndableAdapter(HTTPAdapter):
    """Remembers the connections that it opens."""

    def __init__(self) -> None:
        self._opened: WeakSet[HTTPConnection] = WeakSet()
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self._remember(self.poolmanager)

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        self._remember(manager)
        return manager

    def end_all(self) -> None:
        """Shut every connection down; whoever waits for its bytes gets an error."""
        for connection in list(self._opened):
            with suppress(OSError, AttributeError):  # it was closed meanwhile
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _remember(self, manager: Any) -> None:
        opened = self._opened

        class Plain(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                opened.add(self)

        class Encrypted(HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                opened.add(self)

        manager.pool_classes_by_scheme = {
            "http": type("PlainPool", (HTTPConnectionPool,), {"ConnectionCls": Plain}),
            "https": type("EncryptedPool", (HTTPSConnectionPool,), {"ConnectionCls": Encrypted}),
        }
