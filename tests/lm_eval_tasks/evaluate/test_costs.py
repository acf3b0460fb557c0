"""What a run costs, and a run that stops before it costs too much."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.base.errors import CostError
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.compat import lm_eval_answers
from lm_eval_tasks.llm.ledger import Ledger, lost_in
from lm_eval_tasks.llm.usage import Budget, Price, Usage, UsageTotals, usage_together
from standins.openai_server import Reply, serve
from tests.helpers.served import TITLE, Command, run, run_on


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """Of a model that costs one unit for each token of an answer."""
    file = tmp_path / "prices.toml"
    file.write_text("[ours]\ninput = 0\noutput = 1_000_000\n")
    return file


@pytest.mark.slow
def test_a_run_stops_before_its_cost_is_passed_and_resumes(
    command: Command, dataset: Path, prices: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(1)
        return {"content": TITLE, "usage": {"prompt_tokens": 10, "completion_tokens": 20}}

    with serve(answer) as server:
        line = (server.url, command, dataset, tmp_path / "a", "--prices", prices, "--limit", "5", "--max-cost")
        # Answers may have 64 tokens: one, then a second once the first was cheap, then a third.
        code, _, err = run_on(*line, "110")
        assert code == 1
        assert "stopped at a cost of" in err
        assert len(asked) == 3
        assert not list((tmp_path / "a").glob("results_*"))
        code, _, err = run_on(*line, "1000")
        assert code == 0, err
        assert len(asked) == 5
        other = (server.url, command, dataset, tmp_path / "c", "--prices", prices, "--limit", "1", "--max-cost", "1000")
        for longer in ("max_gen_toks=5000", "max_gen_toks=600,n=2"):
            code, _, err = run_on(*other, "--gen_kwargs", longer)
            assert (code, "stopped at a cost of 0.0000" in err, len(asked)) == (1, True, 5), err
        code, _, err = run_on(*other, "--gen_kwargs", "max_tokens=5000")
        assert (code, "max_gen_toks" in err, err.count("\n"), len(asked)) == (1, True, 1, 5), err
        # A system prompt is paid for too where the tokens of the prompt behind it are known.
        prices.write_text("[ours]\ninput = 10_000\noutput = 0\n", encoding="utf-8-sig")
        code, _, err = run_on(*other, "--system_instruction", "S" * 10**5, tokenizer=str(tiny_llama), max_length=10**6)
        assert (code, "stopped at a cost of 0.0000" in err, len(asked)) == (1, True, 5), err
        code, _, err = run(command, dataset, tmp_path / "b", answer, "--max-cost", "5")
        assert (code, "needs a table of prices" in err) == (1, True)
        prices.write_text("[another]\ninput = 1\noutput = 1\n")
        code, _, err = run_on(*line, "1")
        assert (code, "has no model 'ours'; it has another" in err) == (1, True)


@pytest.mark.slow
def test_what_nobody_counts_is_paid_for_too(command: Command, dataset: Path, prices: Path, tmp_path: Path) -> None:
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(1)
        return {"content": TITLE if len(asked) % 2 else "", "usage": None}

    limited = ("--prices", prices, "--max-cost", "140", "--limit")
    with serve(answer) as server:
        for _ in range(3):
            run_on(server.url, command, dataset, tmp_path / "a", *limited, "5")
    assert len(asked) == 2
    # What an earlier run without a limit took is not known.
    with serve(lambda body: {"content": TITLE, "usage": None}) as server:
        assert run_on(server.url, command, dataset, tmp_path / "b", "--limit", "1")[0] == 0
        code, _, err = run_on(server.url, command, dataset, tmp_path / "b", *limited, "2")
    assert (code, "do not say how many tokens" in err, len(server.requests)) == (1, True, 1)


@pytest.mark.slow
def test_prompts_that_nobody_counts_are_paid_for_too(command: Command, dataset: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[ours]\ninput = 1_000_000\noutput = 0\n")
    with serve(lambda body: {"content": TITLE, "usage": {"completion_tokens": 5}}) as server:
        line = ("--prices", prices, "--max-cost", "20000", "--limit", "9")
        for _ in range(2):
            code, _, err = run_on(server.url, command, dataset, tmp_path / "a", *line)
        longest = max(len(request["messages"][0]["content"]) for request in server.requests)
    assert (code, "stopped at a cost of" in err) == (1, True)
    assert 1 <= len(server.requests) <= 20_000 // (longest // 4)


def test_budgets_count_the_dearest_answer_until_the_real_one_is_known() -> None:
    budget = Budget(10, Price(0, 1_000_000, 0), spent=[Usage(0, 3)])
    budget.take(Usage(0, 5))
    with pytest.raises(CostError):
        budget.take(Usage(0, 5))
    budget.settle(Usage(0, 5), Usage(0, 1))
    budget.take(Usage(0, 5))
    budget.settle(Usage(0, 5), Usage())
    with pytest.raises(CostError, match=r"stopped at a cost of 9\.0000"):
        budget.take(Usage(0, 2))


def test_every_answer_that_was_paid_counts(tmp_path: Path) -> None:
    """Empty answers are noted under one key, run after run."""
    journal = Journal(tmp_path / "journal.jsonl", extra="usage")
    for tokens in (1, 2, 3):
        journal.add("a", "", usage=tokens)
    again = Journal(tmp_path / "journal.jsonl", extra="usage")
    assert (again.extra_of("a"), again.extras_of(), again.extras_of("a", "b")) == (3, [1, 2, 3], [1, 2, 3])


@pytest.mark.slow
def test_requests_that_nobody_answers_are_paid_for_at_most(
    command: Command, dataset: Path, prices: Path, tmp_path: Path
) -> None:
    """Each connection breaks off after the prompt was taken, and no run passes its limit, the next one neither."""
    answered: list[int] = []

    def answer(body: dict[str, Any]) -> Reply:
        answered.append(1)
        if len(answered) % 2:
            return None
        return {"content": TITLE, "usage": {"prompt_tokens": 10, "completion_tokens": 20}}

    with serve(answer) as server:
        line = (server.url, command, dataset, tmp_path / "a", "--prices", prices, "--limit", "3", "--max-cost")
        # Answers may have 64 tokens.
        code, _, err = run_on(*line, "100")
        assert (code, "--max-cost 100" in err) == (1, True), err
        assert len(answered) <= 2
        asked = len(answered)
        code, _, err = run_on(*line, "100")
        assert (code, len(answered)) == (1, asked), err
        code, _, err = run_on(*line, "1000")
        assert code == 0, err
        code, shown, err = command("show", tmp_path / "a")
        assert "| requests whose usage is not known | 3 |" in shown, shown
        assert "| of the cost, the most that these took | 192.00 |" in shown, shown


def test_a_request_under_way_when_a_run_is_killed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = Usage(tokens_in=100, tokens_out=50)
    ledger = Ledger(journal := Journal(tmp_path / "journal.jsonl"))
    for _ in range(3):
        ledger.sent(most)
    ledger.settled(most)
    add, waits = journal.add, iter((0.1, 0))
    monkeypatch.setattr(journal, "add", lambda *entry: (time.sleep(next(waits)), add(*entry)))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(ledger.sent, most)
        time.sleep(0.03)
        ledger.settled(most)
    # Killed here.
    later = Journal(tmp_path / "journal.jsonl")
    Ledger(later)
    assert lost_in(later) == (2, Usage(200, 100))
    # Once.
    Ledger(Journal(tmp_path / "journal.jsonl"))
    assert lost_in(Journal(tmp_path / "journal.jsonl")) == (2, Usage(200, 100))
    of_killed = UsageTotals(lost=2, cost_of_lost=0.5)
    assert usage_together([of_killed, UsageTotals()]) == of_killed


@pytest.mark.parametrize("usage", [{"prompt_tokens": 4000, "completion_tokens": 400}, None])
def test_a_response_with_several_answers_is_counted_once(usage: dict[str, int] | None) -> None:
    choices = lm_eval_answers._choices({"choices": [{}, {}, {}], "usage": usage, "model": "ours"})
    totals = UsageTotals.of(Usage.of_response(said, "") for _, said in choices)
    assert (totals.tokens_in, totals.tokens_out, totals.served) == (
        usage and 4000,
        usage and 400,
        {"ours": 3},
    )
