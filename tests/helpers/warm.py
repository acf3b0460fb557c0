"""Commands in processes of their own without the seconds that an interpreter and its imports take each time.

One interpreter is started for a test process; it imports what commands need and then forks a child for each command. A
child is a real process: it can be killed, has its own standard streams, folder and environment, and leaves nothing behind.
What libraries read from the environment when they are imported (HF_HOME, HF_ENDPOINT, ...) is that of the interpreter.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[2]
PRELOADED = "builder.cli builder.pipeline lm_eval_tasks.evaluate.run lm_eval.evaluator lm_eval.tasks lm_eval.models"


class Process:
    """A running command, with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers = connection.makefile("r")
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(int(self._answers.readline()))
            self._answers.close()
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill_all(self) -> bool:
        """Kill the command and its children; whether it was still running."""
        running = self.poll() is None
        if running:
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()
        return running


class Warm:
    """A warm interpreter, reached through a socket."""

    def __init__(self, address: Path) -> None:
        self._address = address

    def popen(
        self,
        argv: Sequence[object],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdout: BinaryIO | None = None,
        stderr: BinaryIO | None = None,
    ) -> Process:
        """Start a command: `academiceval`, `lm_eval` or `python -c SCRIPT`; streams that are not given go nowhere."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self._address))
        with Path(os.devnull).open("rb+") as null:
            fds = [null.fileno(), (stdout or null).fileno(), (stderr or null).fileno()]
            content = {
                "argv": [str(one) for one in argv],
                "env": dict(env or os.environ),
                "cwd": str(cwd or Path.cwd()),
            }
            message = json.dumps(content).encode()
            socket.send_fds(connection, [len(message).to_bytes(8)], fds)
            connection.sendall(message)
        return Process(connection)

    def run(
        self,
        argv: Sequence[object],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            code = self.popen(argv, env=env, cwd=cwd, stdout=out, stderr=err).wait()
            out.seek(0)
            err.seek(0)
            done = subprocess.CompletedProcess(list(map(str, argv)), code, out.read().decode(), err.read().decode())
        if check:
            assert done.returncode == 0, done.stderr[-3000:]
        return done

    def command(self, folder: Path, name: str = "academiceval") -> Path:
        """A program `academiceval` or `lm_eval` in a folder that runs in this interpreter's children, for scripts."""
        path = folder / name
        path.write_text(
            f"#!{sys.executable} -S\nimport os, sys\nfrom pathlib import Path\nsys.path.insert(0, {str(ROOT)!r})\n"
            "from tests.helpers.warm import Warm\n"
            f"warm = Warm(Path({str(self._address)!r}))\n"
            "out, err = (os.fdopen(fd, 'wb', closefd=False) for fd in (1, 2))\n"
            f"sys.exit(warm.popen([{name!r}, *sys.argv[1:]], stdout=out, stderr=err).wait())\n"
        )
        path.chmod(0o755)
        return path


@contextmanager
def warm(env: Mapping[str, str] | None = None, preloaded: str = PRELOADED) -> Iterator[Warm]:
    """A warm interpreter, which ends with the block."""
    # Paths of sockets must be short.
    with tempfile.TemporaryDirectory(prefix="warm-") as short:
        address = Path(short) / "socket"
        read, write = os.pipe()
        server = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from tests.helpers.warm import serve; serve()",
                str(address),
                str(write),
                preloaded,
            ],
            cwd=ROOT,
            env=dict(env or os.environ),
            pass_fds=[write],
        )
        os.close(write)
        with os.fdopen(read) as ready:
            assert ready.read() == "ready", "the warm interpreter did not start"
        try:
            yield Warm(address)
        finally:
            server.kill()
            server.wait()


# --- in the warm interpreter


def serve() -> None:
    """Fork a child for every connection, until killed."""
    from tests.helpers.here import save_time

    save_time()
    address, ready, preloaded = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    for name in preloaded.split():
        importlib.import_module(name)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(16)
    os.write(ready, b"ready")
    os.close(ready)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _watch(connection)
        connection.close()


def _watch(connection: socket.socket) -> None:
    """Fork the command, and tell its process number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, fds, _, _ = socket.recv_fds(connection, 8, 3)
    message = b""
    while len(message) < int.from_bytes(size):
        message += connection.recv(1 << 16)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(json.loads(message), fds)
    connection.sendall(f"{pid}\n".encode())
    status = os.waitpid(pid, 0)[1]
    connection.sendall(f"{status}\n".encode())
    os._exit(0)


def _become(request: dict[str, Any], fds: Sequence[int]) -> None:
    """Be the command."""
    os.setsid()
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = request["argv"]
    _settings()
    code = 1
    try:
        code = _main(sys.argv)
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _settings() -> None:
    """What was read from the environment too early."""
    import datasets

    if cache := os.environ.get("HF_DATASETS_CACHE"):
        datasets.config.HF_DATASETS_CACHE = Path(cache)


def _main(argv: list[str]) -> int:
    match Path(argv[0]).name:
        case "academiceval":
            from builder.cli import main

            return main(argv[1:])
        case "lm_eval":
            from lm_eval.__main__ import cli_evaluate

            cli_evaluate()
            return 0
        case _:
            exec(compile(argv[2], "<script>", "exec"), {"__name__": "__main__"})
            return 0
