"""The judge, against a loopback server that can be biased, slow, wrong, cut off or busy."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from lm_eval_tasks.families.score import SCORER, score_again
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL, TIE, parse, prompt_of
from lm_eval_tasks.judge.win_rates import Judged, summary
from lm_eval_tasks.samples.prompt_row import PromptRow
from standins.openai_server import Server, serve
from standins.places import BIN
from standins.runs import abstract_of
from tests.helpers.served import Command
from tests.helpers.warm import Warm


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for before a question is asked again, but for what a server says."""
    monkeypatch.setattr("lm_eval_tasks.llm.chat._WAIT", wait_none())


def verdict(winner: int, **others: int) -> str:
    names = (*DIMENSIONS, OVERALL)
    return json.dumps(
        {name: {"Winner": f"Answer {others.get(name, winner)}", "Brief Explanation": "Because."} for name in names}
    )


def answers_of(body: dict[str, Any]) -> tuple[str, str]:
    """The two answers in a prompt."""
    prompt = body["messages"][0]["content"]
    first, second = re.search(r"Answer 1:\n(.*)\nAnswer 2:\n(.*)\nEvaluate them", prompt, re.DOTALL).groups()  # type: ignore[union-attr]
    return first, second


def judging(prefer: Callable[[str, str], int]) -> Callable[[dict[str, Any]], str]:
    return lambda body: verdict(prefer(*answers_of(body)))


def make_samples(
    folder: Path, n: int = 20, answer: Callable[[int], str] = lambda i: f"generated {i}", **doc: Any
) -> Path:
    """A folder of logged samples."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        line: dict[str, Any] = {"doc": abstract_of(i, f"reference {i}") | doc, "resps": [[answer(i)]]}
        scored = score_again(PromptRow.of_doc(line["doc"]), [answer(i)])
        rows.append({**line, "filtered_resps": [replace(scored, scorer=SCORER).to_text()]})
    (folder / "samples_academiceval_abs_9k_x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def line_of(folder: Path, server: Server) -> tuple[object, ...]:
    return ("judge", folder, "--model", "m", "--base-url", server.url, "--output", folder / "judged")


def judged(command: Command, folder: Path, server: Server, *more: object) -> dict[str, Any]:
    code, out, err = command(*line_of(folder, server), *more)
    assert code == 0, err
    assert "| Abs-9K | m |" in out
    [file] = (folder / "judged").glob("judge_*.json")
    result: dict[str, Any] = json.loads(file.read_text())
    return result


def refused(command: Command, folder: Path, server: Server, *more: object) -> str:
    """What a judging that comes to nothing says."""
    code, _, err = command(*line_of(folder, server), *more)
    assert code == 1
    return err


def noted(folder: Path) -> list[dict[str, Any]]:
    """The verdicts in a journal."""
    lines = (folder / "judged" / "verdicts_m.jsonl").read_text().splitlines()
    return [json.loads(line)["value"] for line in lines]


# --- prompt and verdict


def test_the_published_prompt_holds_both_answers() -> None:
    text = prompt_of("first {answer2}", "second")
    assert text.startswith("Role\nYou are an expert scientific writing evaluator")
    assert "\nAnswer 1:\nfirst {answer2}\nAnswer 2:\nsecond\nEvaluate them" in text
    assert "{{" not in text
    assert json.loads(text[text.rindex('{\n  "Novelty"') :])[OVERALL]["Winner"] == "[Answer 1 or Answer 2]"


@pytest.mark.parametrize(
    "text",
    [
        verdict(2),
        f"Here it is:\n```json\n{verdict(2)}\n```",
        verdict(2).replace("Answer 2", "[Answer 2]"),
        json.dumps(dict.fromkeys((*DIMENSIONS, OVERALL), "answer 2")),
        f"The set {{a, b}} is in both. {verdict(2)} So {{2}} wins.",
        '{"note": "a draft"} ' + verdict(2),
        verdict(2)[:-1] + f', "what the answers say": {verdict(1)}}}',
        f"{verdict(1)} On second thought: {verdict(2)}",
    ],
)
def test_a_verdict_is_read_by_its_schema(text: str) -> None:
    read = parse(text)
    assert read is not None
    assert set(read.values()) == {2}


def test_the_winner_is_read_whatever_a_dimension_says() -> None:
    answer = {**json.loads(verdict(1)), "Novelty": {"Winner": "Both"}, "Feasibility": {"Winner": "hard to say"}}
    read = parse(json.dumps(answer))
    assert read is not None
    assert (read[OVERALL], read["Novelty"], "Feasibility" in read) == (1, TIE, False)
    for word in ("Both", "Tie", "[Neither]", "both answers", "Equal."):
        tie = parse(json.dumps({OVERALL: {"Winner": word}}))
        assert tie is not None
        assert tie == {OVERALL: TIE}


@pytest.mark.parametrize(
    "text", ["Answer 1 is better.", verdict(1)[:-40], verdict(3), verdict(1).replace(OVERALL, "Winner")]
)
def test_what_is_no_verdict_is_never_guessed(text: str) -> None:
    assert parse(text) is None


# --- win rates


def one(first: int | None, second: int | None, i: int = 0, length: int = 0, empty: bool = False) -> Judged:
    orders = tuple(None if place is None else dict.fromkeys((*DIMENSIONS, OVERALL), place) for place in (first, second))
    return Judged("T", str(i), str(i), orders, empty, length)  # type: ignore[arg-type]


def test_points_of_both_orders() -> None:
    assert one(1, 2).points() == 1.0
    assert one(2, 1).points() == 0.0
    assert one(1, 1).points() == one(2, 2).points() == 0.5
    assert one(1, None).points() is None
    assert one(TIE, TIE).points() == 0.5
    assert one(1, TIE).points() == 0.75
    assert one(None, None, empty=True).points() == 0.0


def test_what_could_not_be_read_is_counted_and_left_out() -> None:
    found = summary([one(1, 2, 0), one(2, 1, 1), one(1, None, 2), one(None, None, 3, empty=True)])
    assert found["win_rate"]["value"] == pytest.approx(1 / 3)
    assert (found["unparseable"], found["empty"], found["samples"], found["judged"]) == (1, 1, 4, 3)
    # Of the third, one order was won; the other one is unknown.
    assert found["worst_and_best"] == [pytest.approx(1.5 / 4), pytest.approx(2 / 4)]
    assert (found["raw_win_rate"], found["raw_judged"]) == (pytest.approx(2 / 4), 4)
    assert summary([one(None, None)])["win_rate"] is None


# --- against a server


@pytest.mark.slow
def test_a_judge_of_texts_is_heard(command: Command, tmp_path: Path) -> None:
    with serve(judging(lambda first, second: 1 if first.startswith("generated") else 2)) as server:
        result = judged(command, make_samples(tmp_path / "run"), server)
        assert all(body["temperature"] == 0 for body in server.requests)
        assert len(server.requests) == 40
        assert judged(command, tmp_path / "run", server) == result
        assert len(server.requests) == 40
    figures = result["tasks"]["Abs-9K"]["m"]
    assert figures["win_rate"]["value"] == figures["raw_win_rate"] == figures["position_consistency"] == 1.0
    assert figures["first_place_share"] == 0.5
    assert figures["dimensions"]["Novelty"]["value"] == 1.0
    assert (result["judged_model"], result["round"], result["prompt_versions"]) == ("run", "2026.11", [1])
    assert {(one["id"], one["order"]) for one in noted(tmp_path / "run")} == {
        (f"2605.{i:05d}v1", k) for i in range(20) for k in (0, 1)
    }


@pytest.mark.slow
def test_a_judge_of_places_is_found_out_and_cancels_out(command: Command, tmp_path: Path) -> None:
    with serve(judging(lambda first, second: 1)) as server:
        figures = judged(command, make_samples(tmp_path / "run"), server)["tasks"]["Abs-9K"]["m"]
    assert figures["win_rate"]["value"] == 0.5
    assert figures["raw_win_rate"] == 1.0
    assert (figures["position_consistency"], figures["first_place_share"]) == (0.0, 1.0)


@pytest.mark.slow
def test_bad_json_is_asked_for_once_more_then_counted(command: Command, tmp_path: Path) -> None:
    def stubborn(body: dict[str, Any]) -> str:
        i = int(re.search(r"generated (\d+)", body["messages"][0]["content"]).group(1))  # type: ignore[union-attr]
        if len(body["messages"]) > 1 and i % 2 == 0:
            assert body["messages"][1]["content"] == verdict(1)[:99]
            return verdict(1)
        return verdict(1)[:99] if i < 10 else verdict(1)

    with serve(stubborn) as server:
        figures = judged(command, make_samples(tmp_path / "run"), server)["tasks"]["Abs-9K"]["m"]
        assert len(server.requests) == 40 + 20
        assert (figures["unparseable"], figures["judged"]) == (10, 15)
        code, out, _ = command(
            "judge", tmp_path / "run", "--model", "m", "--dry-run", "--output", tmp_path / "run" / "judged"
        )
        assert (code, "20 samples, 10 requests that have no verdict yet" in out) == (0, True)
        # What could not be read is asked again, and nothing else; all of it was paid for.
        paid = judged(command, tmp_path / "run", server)["usage"]["m"]["tokens_in"]
        assert len(server.requests) == 40 + 20 + 20
        assert paid == 80 * (paid // 80)
    assert figures["win_rate"]["samples"] == 15
    assert figures["worst_and_best"] == [pytest.approx(7.5 / 20), pytest.approx(12.5 / 20)]


@pytest.mark.slow
def test_busy_and_failing_servers_are_asked_again(command: Command, tmp_path: Path) -> None:
    refused: set[str] = set()
    lock = threading.Lock()

    def busy(body: dict[str, Any]) -> str | tuple[int, dict[str, str], str]:
        key = hashlib.sha256(body["messages"][0]["content"].encode()).hexdigest()
        with lock:
            first = key not in refused
            refused.add(key)
        if not first:
            return verdict(1)
        return (429, {"Retry-After": "0.2"}, "{}") if int(key, 16) % 2 else (503, {}, "{}")

    with serve(busy) as server:
        figures = judged(command, make_samples(tmp_path / "run", 6), server)["tasks"]["Abs-9K"]["m"]
        assert len(server.requests) == 24
    assert figures["unparseable"] == 0


@pytest.mark.slow
def test_a_judge_told_to_end_loses_and_pays_nothing(warm: Warm, tmp_path: Path) -> None:
    make_samples(tmp_path / "run", 60)

    def slow(body: dict[str, Any]) -> str:
        time.sleep(0.1)
        return verdict(1)

    with serve(slow) as server:
        line = [BIN / "academiceval", *line_of(tmp_path / "run", server), "--concurrency", "4"]
        with (tmp_path / "errors").open("wb") as errors:
            process = warm.popen(line, stderr=errors)
        while process.poll() is None and len(server.requests) < 8:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1
        assert "resumes from here" in (tmp_path / "errors").read_text()
        assert 8 <= len(noted(tmp_path / "run")) == len(server.requests) < 120
        warm.run(line, check=True)
        assert len(server.requests) == 120


@pytest.mark.slow
def test_results_that_are_replaced_are_named(
    command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rounds = [make_samples(tmp_path / name / "run", 4, round=name) for name in ("2026.11", "2026.12")]
    with serve(lambda body: verdict(1)) as server:
        for folder, judges in ((rounds[0], "m"), (rounds[0], "n"), (rounds[1], "n")):
            caplog.clear()
            line = ("judge", folder, "--model", judges, "--base-url", server.url, "--output", tmp_path / "out")
            assert command(*line)[0] == 0
            # Each judge has a file of its own.
            lost = "n on Abs-9K, round 2026.11" if folder == rounds[1] else ""
            assert (f"no longer has all results of {lost};" in caplog.text) == bool(lost)
        assert len(list((tmp_path / "out").glob("judge_*.json"))) == 2
        # The texts of both rounds are the same: no question is asked twice.
        assert len(server.requests) == 16


def test_a_dry_run_asks_nothing(command: Command, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[m]\ninput = 2\noutput = 6\n")
    with serve(lambda body: verdict(1)) as server:
        # Both orders of two texts that are the same are one question.
        line = line_of(make_samples(tmp_path / "run", 20, lambda i: f"generated {i}" if i else "reference 0"), server)
        code, out, _ = command(*line, "--dry-run", "--prices", prices)
        assert not server.requests
    assert code == 0
    assert re.search(
        r"20 samples, 39 requests that have no verdict yet, about \d{5} prompt tokens and 15600 answer tokens, 0\.\d\d at the given",
        out,
    )


def test_a_limit_judges_the_first_samples_and_the_rest_is_estimated_by_their_verdicts(
    command: Command, tmp_path: Path
) -> None:
    make_samples(tmp_path / "run")
    with serve(lambda body: verdict(1)) as server:
        figures = judged(command, tmp_path / "run", server, "--limit", 5)
        asked = list(server.requests)
    assert (len(asked), figures["tasks"]["Abs-9K"]["m"]["judged"]) == (10, 5)
    _, out, _ = command("judge", tmp_path / "run", "--model", "m", "--dry-run", "--output", tmp_path / "run" / "judged")
    tokens = figures["usage"]["m"]["tokens_out"] / 10
    assert "20 samples, 30 requests that have no verdict yet" in out
    assert f"and {30 * tokens:.0f} answer tokens" in out


@pytest.mark.slow
def test_what_cannot_be_judged_is_named_before_anything_is_paid(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def told(folder: Path, *more: object) -> str:
        code, _, err = command("judge", folder, "--model", "m", "--output", tmp_path / "out", *more)
        assert code == 1
        assert err.count("\n") == 1
        return err

    good = make_samples(tmp_path / "run", 2)
    assert "no key" in told(good)
    assert "no answer from http://127.0.0.1:9/v1" in told(good, "--base-url", "http://127.0.0.1:9/v1")
    with serve(lambda body: verdict(1)) as server:
        server.models = ("other",)
        assert "does not serve 'm'; it has other" in told(good, "--base-url", server.url)
        server.models = ("m",)
        assert "no sample has a text" in told(
            make_samples(tmp_path / "empty", 3, lambda i: ""), "--base-url", server.url
        )
        mixed = make_samples(tmp_path / "mixed", 3)
        make_samples(mixed / "more", 3, round="2026.12", setting="Abs-28K")
        assert "several rounds (2026.11, 2026.12)" in told(mixed, "--base-url", server.url)
        assert "does not exist" in told(tmp_path / "nothing-here", "--base-url", server.url)
        assert not server.requests
    with serve(lambda body: (401, {}, '{"error": {"message": "bad key"}}')) as server:
        assert "gave up" in told(good, "--base-url", server.url)


def test_an_empty_answer_is_a_loss_that_costs_nothing(command: Command, tmp_path: Path) -> None:
    folder = make_samples(tmp_path / "run", 4, lambda i: "" if i == 0 else f"generated {i}")
    with serve(judging(lambda first, second: 1 if first.startswith("generated") else 2)) as server:
        figures = judged(command, folder, server)["tasks"]["Abs-9K"]["m"]
        assert len(server.requests) == 6
    assert figures["win_rate"]["value"] == 0.75
    assert figures["empty"] == 1


Reply = tuple[int, dict[str, str], str] | None
PAGE = {"Content-Type": "text/html"}
ODD: dict[str, Reply] = {
    "a page of HTML": (200, PAGE, "<html><body>Down for maintenance</body></html>"),
    "no choices": (200, {}, '{"id": "1", "choices": []}'),
    "null for choices": (200, {}, '{"id": "1", "choices": null}'),
    "broken JSON": (200, {}, '{"id": "1", "choi'),
    "deep JSON": (200, {}, "[" * 100_000),
    "no JSON": (200, {}, ""),
    "a lost answer": None,
    "packed without being asked": (200, {"Content-Encoding": "gzip"}, "x"),
    "too large": (200, {}, " " * 17_000_000),
    "a redirect": (307, {"Location": "/v1/chat/completions"}, ""),
    "a fault that stays": (400, {}, '{"error": {"message": "too long"}}'),
}


@pytest.mark.slow
def test_a_judge_is_read_in_parts_and_asked_without_what_it_refuses(command: Command, tmp_path: Path) -> None:
    busy = [True]

    def answer(body: dict[str, Any]) -> Reply:
        if "temperature" in body:
            return (400, {}, '{"error": {"message": "Unsupported parameter: temperature"}}')
        if busy:
            busy.clear()
            return (200, {}, '{"error": {"message": "overloaded", "code": 529}}')
        return {"content": [{"type": "text", "text": verdict(1)}]}

    folder = make_samples(tmp_path / "run", 2)
    with serve(answer) as server:
        figures = judged(command, folder, server)["tasks"]["Abs-9K"]["m"]
    assert (figures["failed"], figures["unparseable"], figures["win_rate"]["samples"]) == (0, 0, 2)


@pytest.mark.slow
def test_what_one_question_meets_is_its_own_outcome(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All other answers are kept, and the same command asks these questions again."""
    monkeypatch.setattr("lm_eval_tasks.llm.chat._RETRIES", 3)
    odd = {f"generated {i}": reply for i, reply in enumerate(ODD.values())}
    n = len(odd)
    wrong = [True]

    def answer(body: dict[str, Any]) -> Reply:
        asked_of = answers_of(body)[0]
        return odd[asked_of] if wrong[0] and asked_of in odd else verdict(1)

    folder = make_samples(tmp_path / "run", n + 4)
    with serve(answer) as server:
        figures = judged(command, folder, server)["tasks"]["Abs-9K"]["m"]
        assert (figures["failed"], figures["unparseable"], figures["win_rate"]["samples"]) == (n, 0, 4)
        values = noted(folder)
        assert len(values) == 2 * (n + 4)
        failed = {(value["id"], value["order"]) for value in values if "failed" in value}
        assert failed == {(f"2605.{i:05}v1", 0) for i in range(n)}
        asked, wrong[0] = len(server.requests), False
        figures = judged(command, folder, server)["tasks"]["Abs-9K"]["m"]
        assert len(server.requests) == asked + n
    assert (figures["failed"], figures["win_rate"]["samples"]) == (0, n + 4)


@pytest.mark.slow
def test_a_lone_surrogate_in_a_verdict_is_replaced(command: Command, tmp_path: Path) -> None:
    with serve(lambda body: "no verdict \ud800") as server:
        folder = make_samples(tmp_path / "run", 2)
        err = refused(command, folder, server)
    assert "none of the answers of 'm' names an overall winner" in err
    assert "such as 'no verdict" in err
    assert "\ufffd" in (folder / "judged" / "verdicts_m.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_judge_that_drips_is_given_up_at_the_deadline(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lm_eval_tasks.llm.chat._RETRIES", 0)

    def slow(body: dict[str, Any]) -> str:
        if answers_of(body)[0] == "generated 1":
            time.sleep(3.0)
        return verdict(1)

    with serve(slow) as server:
        figures = judged(command, make_samples(tmp_path / "run", 3), server, "--timeout", "1")["tasks"]["Abs-9K"]["m"]
    assert figures["failed"] == 1
    text = (tmp_path / "run" / "judged" / "verdicts_m.jsonl").read_text()
    assert "no whole answer within 1 s" in text


@pytest.mark.slow
def test_a_server_that_is_gone_ends_the_run_and_not_each_question(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lm_eval_tasks.llm.chat._RETRIES", 0)
    folder = make_samples(tmp_path / "run", 60)
    with serve(lambda body: verdict(1) if len(server.requests) <= 10 else (500, {}, "{}")) as server:
        assert "20 failures in a row" in refused(command, folder, server, "--concurrency", "4")
        assert len(server.requests) < 60
    assert sum("failed" not in one for one in noted(folder)) == 10
    assert (
        sum("failed" in one for one in noted(folder)) >= 20
    )  # what the last of them was charged counts like that of the others


@pytest.mark.slow
def test_prompts_go_to_the_named_server_alone(command: Command, tmp_path: Path) -> None:
    with serve(lambda body: verdict(1)) as other:
        moved = (307, {"Location": f"{other.url}/chat/completions"}, "")
        with serve(lambda body: moved) as server:
            err = refused(command, make_samples(tmp_path / "run", 2), server)
        assert "status 307" in err
        assert not other.requests


@pytest.mark.slow
def test_a_key_that_a_server_repeats_is_not_written(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "localsecretkey12345")
    echo = (400, {}, json.dumps({"error": {"message": "wrong: Authorization: Bearer localsecretkey12345"}}))
    with serve(lambda body: echo if answers_of(body)[0] == "generated 1" else verdict(1)) as server:
        judged(command, make_samples(tmp_path / "run", 2), server)
    written = [path for path in (tmp_path / "run" / "judged").rglob("*") if path.is_file()]
    assert len(written) == 3
    assert not any("localsecretkey" in path.read_text() for path in written)


@pytest.mark.slow
def test_an_odd_verdict_in_a_journal_is_asked_for_again(command: Command, tmp_path: Path) -> None:
    of_winners = ({"winners": each} for each in (5, ["A"], {OVERALL: 3}))
    odd = [None, [], {}, 5, *of_winners, {"winners": None, "failed": 1}]
    folder = make_samples(tmp_path / "run", len(odd) // 2)
    with serve(lambda body: verdict(1)) as server:
        result = judged(command, folder, server)
        journal = folder / "judged" / "verdicts_m.jsonl"
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        changed = [{**line, "value": value} for line, value in zip(lines, odd, strict=True)]
        journal.write_text("".join(json.dumps(line) + "\n" for line in changed))
        assert judged(command, folder, server) == result
        assert len(server.requests) == 2 * len(odd)


def test_odd_lists_of_models_and_odd_options(command: Command, tmp_path: Path) -> None:
    folder = make_samples(tmp_path / "run", 1)
    with serve(lambda body: verdict(1)) as server:
        server.models = (1, None, "x")  # type: ignore[assignment]
        assert "does not serve 'm'" in refused(command, folder, server)
    for option, value in (("--concurrency", "0"), ("--concurrency", "-3"), ("--timeout", "nan"), ("--timeout", "0")):
        with pytest.raises(SystemExit) as caught:
            command("judge", folder, "--model", "m", option, value)
        assert caught.value.code == 1


OF_6000_TOKENS = {"prompt_tokens": 5000, "completion_tokens": 1000}
NO_VERDICT: dict[str, Any] = {"content": "no verdict", "usage": OF_6000_TOKENS}
NO_ANSWER: Reply = (200, {}, json.dumps({"choices": [], "usage": OF_6000_TOKENS}))
DEAR_VERDICT: dict[str, Any] = {"content": verdict(1), "usage": OF_6000_TOKENS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replies", "limit", "asked", "cost"),
    [
        ([NO_VERDICT], "0.7", 1, "0.6000"),
        ([NO_ANSWER], "0.7", 1, "0.6000"),
        ([NO_ANSWER], "2", 3, "1.8000"),
        ([NO_ANSWER, DEAR_VERDICT], "1.3", 2, "1.2000"),
        ([NO_ANSWER, (401, {}, "{}"), NO_ANSWER], "1.3", 3, "1.2000"),
        ([lambda: signal.raise_signal(signal.SIGINT) or NO_ANSWER, NO_ANSWER], "1.3", 2, "1.2000"),
    ],
    ids=["no verdict", "no answer", "no answer in three tries", "no answer at first", "then refused", "then stopped"],
)
def test_each_response_is_paid_for_once(
    command: Command, tmp_path: Path, replies: list[Any], limit: str, asked: int, cost: str
) -> None:
    """In the run that asked, and in later ones; no try is sent that could pass the limit."""
    folder = make_samples(tmp_path / "run", 1)
    prices = tmp_path / "prices.toml"
    prices.write_text("[m]\ninput = 100\noutput = 100\n")
    left = iter(replies)
    with serve(lambda body: reply() if callable(reply := next(left, replies[-1])) else reply) as server:
        limited = ("--concurrency", "1", "--prices", prices, "--max-cost", limit)
        for _ in range(3):
            # Before that it may end for another reason.
            assert f"at a cost of {cost}" in refused(command, folder, server, *limited) or len(server.requests) < asked
    assert len(server.requests) == asked


@pytest.mark.slow
def test_what_is_set_aside_for_questions_under_way_is_waited_for(command: Command, tmp_path: Path) -> None:
    """Each can cost some 0.6, and costs 0.02."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[m]\ninput = 100\noutput = 100\n")
    reply = {"content": verdict(1), "usage": {"prompt_tokens": 100, "completion_tokens": 100}}
    with serve(lambda body: reply) as server:
        judged(command, make_samples(tmp_path / "run", 2), server, "--prices", prices, "--max-cost", "0.8")
        assert len(server.requests) == 4


@pytest.mark.slow
def test_a_question_that_failed_took_nothing(command: Command, tmp_path: Path) -> None:
    """A later run may have a limit, and asks it again."""
    folder = make_samples(tmp_path / "run", 2)
    prices = tmp_path / "prices.toml"
    prices.write_text("[m]\ninput = 1\noutput = 1\n")
    fails = [True]

    def answer(body: dict[str, Any]) -> str | Reply:
        if fails[0] and answers_of(body)[0] == "generated 1":
            return (200, {}, '{"choices": []}')
        return verdict(1)

    with serve(answer) as server:
        judged(command, folder, server)
        fails[0] = False
        judged(command, folder, server, "--prices", prices, "--max-cost", "1")


def test_an_answer_that_never_ends_is_read() -> None:
    assert parse('{"a":1,' * 100_000) is None
    # A draft is no verdict.
    assert parse(f"<think>{verdict(2)} or not") is parse(f"<think>{verdict(2)}</think>The winner is Answer 1.") is None
    found = parse('{"a":' * 100_000 + verdict(2))
    assert found is not None and found[OVERALL] == 2
