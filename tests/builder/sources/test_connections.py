"""A request that is given up gives its connection up too."""

from __future__ import annotations

import gzip
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from builder.sources import http_client
from builder.sources.http_client import HttpClient


@contextmanager
def endless_headers(opened: set[socket.socket]) -> Iterator[str]:
    """A server that sends a byte of a header at a time, for ever."""

    def answer(connection: socket.socket) -> None:
        opened.add(connection)
        with connection, suppress(OSError):
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: ")
            while True:
                connection.sendall(b"a")
                time.sleep(0.02)
        opened.discard(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x"
        server.shutdown(socket.SHUT_RDWR)


def client() -> HttpClient:
    answers = SimpleNamespace(
        last_request=lambda: 0, count_request=lambda *_: None, add_seconds=lambda *_: None, get=lambda *_: None
    )
    source: Any = SimpleNamespace(timeout=0.3, delay=0.0, contact="x")
    store: Any = SimpleNamespace(answers=answers)
    return HttpClient(source, store, "2026.11")


@pytest.mark.slow
def test_one_connection_at_a_time() -> None:
    opened: set[socket.socket] = set()
    with endless_headers(opened) as url:
        for _ in range(3):
            with pytest.raises(http_client._TransientFailure, match="no whole answer"):
                client()._request(url)
            until = time.monotonic() + 20
            while opened and time.monotonic() < until:
                time.sleep(0.01)
            assert not opened


@pytest.mark.parametrize(
    ("body", "encoding", "whole"),
    [
        (gzip.compress(b"hello ", mtime=0) + gzip.compress(b"world", mtime=0), "gzip", b"hello world"),
        (b"hello", "identity", b"hello"),
        (b"hello", "", b"hello"),
        (gzip.compress(b"hello", mtime=0), "x-gzip", b"hello"),
        (gzip.compress(b"hello", mtime=0), "GZIP, identity", b"hello"),
        (gzip.compress(random.Random(0).randbytes(4000), mtime=0)[:-1000], "gzip", None),
        (b"hello", "gzip", None),
        (b"hello", "br", None),
    ],
)
def test_a_packed_body_is_whole_or_none(body: bytes, encoding: str, whole: bytes | None) -> None:
    if whole is None:
        with pytest.raises(http_client._TransientFailure):
            http_client._unpacked(body, encoding)
    else:
        assert http_client._unpacked(body, encoding) == whole


def test_one_kind_of_failure_does_not_count_against_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is busy twice, cannot be reached twice, and gives a page once, may be asked again."""
    busy = http_client._TransientFailure("status 503")
    unreachable = http_client._TransientFailure("it cannot be reached", tries=http_client.UNREACHABLE_TRIES)
    outcomes = [busy, busy, unreachable, unreachable, http_client.DoubtfulAnswer("a page")]
    client = HttpClient.__new__(HttpClient)
    client._source = SimpleNamespace(delay=0.0)  # type: ignore[assignment]

    def follow(url: str) -> http_client.StoredAnswer:
        if outcomes:
            raise outcomes.pop(0)
        return http_client.StoredAnswer(200, b"yes")

    monkeypatch.setattr(client, "_follow", follow)
    assert client._ask("http://127.0.0.1/x", None, 3)[0].body == b"yes"
