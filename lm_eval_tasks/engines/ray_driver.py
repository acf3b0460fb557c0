"""The process that talks to a Ray cluster for `engines.ray`, which starts it again when it ends.

Ray ends every process that it has connected to a cluster whose head is gone; here that costs only this process. Batches go
through Ray Data as pickled bytes, so that it need not understand them, and come back in their order. A task that dies with its
worker or node is tried again by Ray, on another.
"""

import hashlib
import logging
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.files import die_with

# The libraries that the bytes depend on.
_LIBRARIES = ("numpy", "pyarrow", "pymupdf", "tokenizers", "torch", "transformers")


def drive(channel: Connection, address: str, parent: int) -> None:
    """Connect, and apply what is sent: (function, batches of items) -> for each batch its results, then the cluster's processors.

    Sends ("connected", processors, ids of the nodes) first, or ("absent", why). An exception takes the place of results; nothing
    follows it.
    """
    die_with(parent)
    _quiet()
    try:
        import ray

        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        nodes = frozenset(node["NodeID"] for node in ray.nodes() if node["Alive"])
    except Exception as err:  # Ray raises whatever the network does
        channel.send(("absent", f"{type(err).__name__}: {str(err).strip().partition(chr(10))[0]}"))
        return
    channel.send(("connected", _processors(), nodes))
    while True:
        try:
            function, batches = channel.recv()
        except EOFError:
            return
        try:
            for results in _spread(function, batches):
                channel.send(results)
            channel.send(_processors())
        except Exception as err:
            channel.send(_sendable_error(err))


def _processors() -> int:
    import ray

    return sum(int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])


def _quiet() -> None:
    """Keep Ray from printing what concerns those who watch a cluster: they have its dashboard and its logs."""
    os.environ["RAY_gcs_rpc_server_reconnect_timeout_s"] = "15"  # noqa: SIM112  # Ray's name
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    # How the next version of Ray treats processors without GPUs.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def _spread(function: Callable[[Any], Any], batches: Sequence[list[Any]]) -> Iterator[list[Any]]:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    apply = _row_function(pickle.dumps(function), code_version(), str(Path.cwd()))
    rows = [{"batch": pickle.dumps(batch)} for batch in batches]
    for row in ray.data.from_items(rows, override_num_blocks=len(rows)).map(apply).iter_rows():
        results = pickle.loads(row["results"])  # noqa: S301  # made by `applied` below, on the cluster that was named
        if isinstance(results, Exception):
            raise results
        yield results


def _row_function(function: bytes, code: str, folder: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """Return what Ray Data runs for each row; the packages must be installed on every node."""

    def apply(row: dict[str, bytes]) -> dict[str, bytes]:
        from lm_eval_tasks.engines.ray_driver import apply_batch

        return {"results": apply_batch(function, row["batch"], code, folder)}

    return apply


def apply_batch(function: bytes, batch: bytes, code: str, folder: str) -> bytes:
    """Return, in a worker, the results of a batch, or the exception that it ended with, pickled; relative paths begin in `folder`."""
    try:
        with suppress(OSError):  # a node without such a folder does not need it, or fails at the missing path
            os.chdir(folder)
        if (mine := code_version()) != code:
            raise OtherCode(f"a worker runs {mine}, this command {code}")
        call = pickle.loads(function)  # noqa: S301  # sent by the driver of the cluster that this worker belongs to
        return pickle.dumps([call(item) for item in pickle.loads(batch)])  # noqa: S301
    except Exception as err:
        return pickle.dumps(_sendable_error(err))


def _sendable_error(err: Exception) -> Exception:
    """Return an exception as it can be sent: Ray's own wrap the worker's traceback."""
    try:
        pickle.loads(pickle.dumps(err))  # noqa: S301
    except Exception:
        return RuntimeError(f"{type(err).__name__}: {str(err).strip().partition(chr(10))[0]}")
    return err


class OtherCode(Exception):
    """A worker has a different version of this software."""


@cache
def code_version() -> str:
    """Return the release, a hash of the code (two checkouts of one release may differ) and the libraries that make the bytes."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for package in ("lm_eval_tasks", "builder"):
        for path in sorted(path for path in (root / package).rglob("*") if path.suffix in (".py", ".toml", ".txt")):
            digest.update(path.read_bytes())
    libraries = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    return f"academiceval {version('academiceval')}, code {digest.hexdigest()[:8]}, {libraries}"


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "-"
