"""A Ray cluster of nodes on this machine, each a group of processes that can be killed at once."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Ray takes 127.0.0.1 for a mistake and puts an address of the network in its place.
HOST = "127.0.0.2"
_MEMORY = 100 * 2**20
_SECONDS_TO_START = 120.0


class RayCluster:
    """Nodes that are started and killed by name; the head's address stays the same."""

    def __init__(self) -> None:
        # Ray's sockets have names of at most 107 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        with socket.socket() as free:
            free.bind((HOST, 0))
            self._port = free.getsockname()[1]
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        # Whoever uses it must not send a token that another cluster of this user has left.
        os.environ["RAY_AUTH_MODE"] = "disabled"

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port}"

    def start(self, name: str) -> None:
        """Start a node, "head" or any other name, and wait until it is there."""
        place = f"--port={self._port}" if name == "head" else f"--address={self.address}"
        first = ["--head", "--include-dashboard=false", f"--temp-dir={self._folder}"] if name == "head" else []
        command = [
            sys.executable,
            "-m",
            "ray.scripts.scripts",
            "start",
            *first,
            place,
            f"--node-ip-address={HOST}",
            "--num-cpus=1",
            f"--object-store-memory={_MEMORY}",
            "--block",
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_initial_delay_ms": "1000",
            "RAY_health_check_failure_threshold": "4",
            "OMP_NUM_THREADS": "1",
        }
        log = (self._folder / f"{name}.log").open("wb")
        self._nodes[name] = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True, cwd=self._folder
        )
        log.close()
        until = time.monotonic() + _SECONDS_TO_START
        while b"Ray runtime started" not in (self._folder / f"{name}.log").read_bytes():
            assert time.monotonic() < until, (self._folder / f"{name}.log").read_text()
            assert self._nodes[name].poll() is None, (self._folder / f"{name}.log").read_text()
            time.sleep(0.1)

    def kill(self, name: str) -> None:
        """Kill all processes of a node, as when its machine loses power."""
        node = self._nodes.pop(name)
        with suppress(ProcessLookupError):  # it ended by itself
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()

    def close(self) -> None:
        for name in list(self._nodes):
            self.kill(name)
        shutil.rmtree(self._folder, ignore_errors=True)
