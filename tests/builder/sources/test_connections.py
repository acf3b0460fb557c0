"""A request that is given up gives its connection up too."""

from __future__ import annotations

import gzip
import random
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builder.sources import http_client
from builder.sources.http_client import HttpClient
from standins.loopback import Fault, World, serve
from tests.helpers.papers import mirror


def client() -> HttpClient:
    answers = SimpleNamespace(
        last_request=lambda: 0, count_request=lambda *_: None, add_seconds=lambda *_: None, get=lambda *_: None
    )
    source: Any = SimpleNamespace(timeout=0.3, delay=0.0, contact="x")
    store: Any = SimpleNamespace(answers=answers)
    return HttpClient(source, store, "2026.11")


@pytest.mark.slow
def test_one_connection_at_a_time(tmp_path: Path) -> None:
    with serve(World(mirror(tmp_path, []))) as server:
        # The headers alone take longer than the client waits.
        server.faults = [Fault("/x", drip=0.2, times=3)]
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(http_client._TransientFailure, match="no whole answer"):
                client()._request(f"{server.url}/x")
            assert time.monotonic() - began < 5
            until = time.monotonic() + 20
            while server.open and time.monotonic() < until:
                time.sleep(0.01)
            assert not server.open


def test_a_connection_that_times_out_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "_CONNECT", 0.05)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        url = f"http://127.0.0.1:{full.getsockname()[1]}/x"
        with pytest.raises(http_client._TransientFailure, match="cannot be reached"):
            client()._request(url)


@pytest.mark.parametrize(
    ("body", "encoding", "whole"),
    [
        (gzip.compress(b"hello ", mtime=0) + gzip.compress(b"world", mtime=0), "gzip", b"hello world"),
        (b"hello", "identity", b"hello"),
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
