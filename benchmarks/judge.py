"""Judge made-up samples against an instant server, and end the judge at random points.

  python benchmarks/judge.py [--quick]

5,000 samples of 200 words in both orders, 10,000 verdicts, 64 at a time; the server and the judge are separate
processes. Then 20 runs over 200 samples that are asked to stop (SIGTERM) and started again, against a server that takes
20 ms: verdicts that are missing at the end, and answers that the server gave twice. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
CONCURRENCY = 64
DELAY = 0.02


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 verdicts, 2 kills")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--judge", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        asyncio.run(serve(arguments.serve))
    elif arguments.judge:
        judge_here(*arguments.judge)
    else:
        with tempfile.TemporaryDirectory() as folder:
            samples, kills = (250, 2) if arguments.quick else (5000, 20)
            print(json.dumps({**speed(Path(folder), samples), **end(Path(folder), kills)}))


def speed(folder: Path, samples: int) -> dict[str, float]:
    """Seconds and memory of judging `samples` samples."""
    make_samples(folder / "speed", samples)
    with Server(0.0) as server:
        started = time.perf_counter()
        done = subprocess.run(
            line(folder / "speed", server.url, folder / "fast"), check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - started
    peak = float(done.stdout.splitlines()[-1])
    print(f"{2 * samples} verdicts: {seconds:.1f} s, {peak:.0f} MB", flush=True)
    return {"verdicts": 2 * samples, "seconds": round(seconds, 1), "peak_mb": round(peak, 1)}


def end(folder: Path, kills: int) -> dict[str, int]:
    """Ask judges to stop at random points, then let them finish."""
    rng = random.Random(4)
    make_samples(folder / "kills", 200)
    lost = twice = 0
    for i in range(kills):
        with Server(DELAY) as server:
            command = line(folder / "kills", server.url, folder / f"out-{i}")
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(1.0, 2.5))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
                process.wait()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            given = server.given()
        [journal] = (folder / f"out-{i}").glob("verdicts_*.jsonl")
        lost += 400 - len({json.loads(text)["key"] for text in journal.read_text().splitlines()})
        twice += sum(n - 1 for n in given.values())
    print(f"{kills} ended and started again: {lost} verdicts lost, {twice} answers paid for twice")
    return {"kills": kills, "lost": lost, "paid_twice": twice}


def line(samples: Path, url: str, output: Path) -> list[str]:
    """The command of a judge."""
    return [sys.executable, str(Path(__file__)), "--judge", str(samples), url, str(output)]


def judge_here(samples: str, url: str, output: str) -> None:
    """Judge in this process, and print the peak of its memory in MB."""
    from lm_eval_tasks.judge import run
    from lm_eval_tasks.llm.budget import Means

    try:
        run.judge(run.load([Path(samples)]), {"judge": Means()}, url, CONCURRENCY, Path(output), "model")
    except KeyboardInterrupt:
        sys.exit(1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def make_samples(folder: Path, n: int) -> None:
    """Logged samples whose texts have 200 words."""
    rng = random.Random(n)
    vocabulary = ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(3, 9))) for _ in range(3000)]
    folder.mkdir()
    with (folder / "samples_academiceval_abs_9k_model.jsonl").open("w") as file:
        for i in range(n):
            doc = {
                "id": f"2605.{i:05d}v1",
                "setting": "Abs-9K",
                "prompt_name": "abs_short",
                "retriever": "",
                "prompt_version": 1,
                "first_author": f"Author {i // 2}",
                "published": "2026-05-01",
                "round": "2026.11",
                "target": " ".join(rng.choices(vocabulary, k=200)),
            }
            answer = " ".join(rng.choices(vocabulary, k=200))
            file.write(
                json.dumps({"doc": doc, "filtered_resps": [json.dumps({"answer": answer, "scores": {}})]}) + "\n"
            )


class Server:
    """The server as a process; its address, and how often it answered each prompt."""

    def __init__(self, delay: float) -> None:
        self._delay = delay

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), "--serve", str(self._delay)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{self._process.stdout.readline().strip()}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def given(self) -> dict[str, int]:
        """Prompt -> answers that were sent."""
        from urllib.request import urlopen

        with urlopen(f"{self.url}/given") as reply:
            counts: dict[str, int] = json.loads(reply.read())
        return counts


async def serve(delay: float) -> None:
    """Answer every request with the same verdict; GET .../given tells how often each body was answered."""
    from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL

    given: Counter[str] = Counter()
    verdict = json.dumps({name: {"Winner": "Answer 1", "Brief Explanation": "So."} for name in (*DIMENSIONS, OVERALL)})
    message = {"role": "assistant", "content": verdict}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reply = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice]})

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    (int(h.split(":")[1]) for h in head.split("\r\n") if h.lower().startswith("content-length")), 0
                )
                body = await reader.readexactly(length)
                path = head.split()[1]
                if path.endswith("/given"):
                    status, text = "200 OK", json.dumps(given)
                elif path.endswith("/models"):
                    status, text = "404 Not Found", "{}"
                else:
                    await asyncio.sleep(delay)
                    status, text = "200 OK", reply
                    given[str(hash(body))] += 1
                data = text.encode()
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
                    + data
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    main()
