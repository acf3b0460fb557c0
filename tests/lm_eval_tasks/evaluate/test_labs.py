"""Evaluation as labs run it: reasoning models, caps, shards, repeats, batches, costs, servers that misbehave."""

from __future__ import annotations

import errno
import itertools
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.compat.lm_eval_answers import Watch
from lm_eval_tasks.data.selection import Fact, representative_rows
from lm_eval_tasks.evaluate.plan import TaskPlan, table
from lm_eval_tasks.llm.thoughts import in_marks
from lm_eval_tasks.llm.usage import Usage
from lm_eval_tasks.metrics.rates import capped
from lm_eval_tasks.samples.answers import Answer, Answers
from lm_eval_tasks.samples.prompt_row import EXCERPT
from lm_eval_tasks.samples.sample import read
from standins.openai_server import Reply, serve
from tests.helpers.samples import sample
from tests.helpers.served import TITLE, Command, metadata, results, run, run_on, scores


@pytest.mark.slow
def test_reasoning_is_kept_apart(
    command: Command, dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    thoughts = "Hm. " * 2000
    code, _, err = run(
        command, dataset, tmp_path / "a", lambda body: f"<think>{thoughts}</think>{TITLE}", "--limit", "2"
    )
    assert code == 0, err
    [file] = (tmp_path / "a").glob("samples_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one.answer for one in read([file])] == [TITLE] * 2
    assert all(row["resps"] == [[TITLE]] and row["reasoning"][0]["characters"] >= len(thoughts) for row in rows)
    assert all(len(row["reasoning"][0]["head"]) == len(row["reasoning"][0]["tail"]) == EXCERPT for row in rows)
    assert "reasoning" not in caplog.text
    code, _, err = run(command, dataset, tmp_path / "b", lambda body: f"<think>{thoughts}", "--limit", "2")
    assert code == 0, err
    assert scores(tmp_path / "b")["unfinished"] == scores(tmp_path / "b")["empty"] == 1.0
    assert "all answers of ours end before their reasoning does" in caplog.text
    assert '"reasoning_tokens": 8192' in caplog.text


@pytest.mark.long
def test_reasoning_that_the_template_opened_is_unfinished_until_it_is_closed(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    model = shutil.copytree(tiny_llama, tmp_path / "model")
    (model / "chat_template.jinja").write_text(
        "{% for message in messages %}{{ message['content'] }}\n{% endfor %}{% if add_generation_prompt %}<think>\n{% endif %}"
    )
    window: dict[str, Any] = {"tokenizer": str(model), "max_length": 8000}
    replies: list[tuple[Reply, float]] = [
        ("Okay, so the user wants a title", 1.0),
        (f"Okay.</think>{TITLE}", 0.0),
        ({"content": TITLE, "reasoning_content": "Okay."}, 0.0),
        ({"content": None, "reasoning_content": "Okay, so", "finish": "length"}, 1.0),
    ]
    for i, (reply, unfinished) in enumerate(replies):
        output = tmp_path / str(i)
        code, _, err = run(command, dataset, output, lambda body, reply=reply: reply, "--limit", "1", **window)
        assert code == 0, err
        assert scores(output)["unfinished"] == unfinished, reply
        assert {one.answer for one in read([output])} == ({TITLE} if i in (1, 2) else {""})


@pytest.mark.slow
def test_reasoning_tokens_lengthen_answers_and_shorten_prompts(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    seen: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> str:
        seen.append(body)
        return TITLE

    window: dict[str, Any] = {"tokenizer": str(tiny_llama), "max_length": 3000}
    for tokens in (0, 1000):
        run(command, dataset, tmp_path / str(tokens), answer, "--limit", "1", **window, reasoning_tokens=tokens)
    assert [body["max_tokens"] for body in seen] == [64, 1064]
    [usual], [shorter] = (read([tmp_path / name]) for name in ("0", "1000"))
    assert usual.id == shorter.id
    longer = ("--limit", "1", "--gen_kwargs", "max_gen_toks=100")
    assert run(command, dataset, tmp_path / "both", answer, *longer, reasoning_tokens=1000)[0] == 0
    assert seen[-1]["max_tokens"] == 1100
    assert run(command, dataset, tmp_path / "c", answer, *longer[:-1], "max_gen_toks=omit", reasoning_tokens=9)[0] == 0
    assert "max_tokens" not in seen[-1]


@pytest.mark.slow
def test_answers_at_their_cap_are_counted_and_scored_apart(command: Command, dataset: Path, tmp_path: Path) -> None:
    turn = iter(range(1000))

    def answer(body: dict[str, Any]) -> Reply:
        cut = next(turn) % 2
        usage = {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
        return {"content": TITLE, "finish": "length" if cut else "stop", "usage": usage}

    prices = tmp_path / "prices.toml"
    prices.write_text("[ours]\ninput = 1_000_000\noutput = 2_000_000\ncached = 500_000\n")
    with serve(answer) as server:
        code, out, err = run_on(server.url, command, dataset, tmp_path / "a", "--limit", "4", "--prices", prices)
        assert code == 0, err
        assert scores(tmp_path / "a")["capped"] == 0.5
        assert re.search(r"\| 4 of \d+ \|", out)
        assert "the scores are of a subset" in out
        found = results(tmp_path / "a")
        assert found["usage"] | {"seconds": 0} == {
            "tokens_in": 40,
            "tokens_out": 20,
            "reasoning_tokens": 12,
            "cached_tokens": 16,
            "served": {"ours": 4},
            "finish": {"length": 2, "stop": 2},
            "answers": 4,
            "untold": None,
            "unanswered": 0,
            "asked_in_this_run": 4,
            "seconds": 0,
            "retries": 0,
            "cost": pytest.approx(24 + 16 * 0.5 + 40),
            "lost": None,
            "cost_of_lost": None,
        }
        assert found["subsets"]["academiceval_title_10k"][0] == 4
        assert re.fullmatch(r"[0-9a-f]{64}", found["datasets"][0])
        assert found["made_with"]["versions"]["lm_eval"]
        again = run_on(server.url, command, dataset, tmp_path / "a", "--limit", "4", "--prices", prices)
        assert again[1] == out
        assert results(tmp_path / "a")["usage"]["asked_in_this_run"] == 0
        assert results(tmp_path / "a")["usage"]["tokens_out"] == 20


def test_capped_is_counted_with_the_tokenizer_where_no_engine_says_it(tiny_llama: Path) -> None:
    row = replace(sample("a", "b", {}).row, tokenizer=f"{tiny_llama}@main", answer_cap=8)
    texts = ["word " * 40, "word"]
    assert capped(Answers(Answer(row, text, text, text) for text in texts)) == [1.0, 0.0]
    unknown = replace(row, tokenizer="")
    assert capped(Answers(Answer(unknown, text, text, text) for text in texts)) == [None, None]


@pytest.mark.slow
def test_repeated_answers_give_means_and_the_models_own_noise(command: Command, dataset: Path, tmp_path: Path) -> None:
    turn = iter(range(10_000))
    sampling = ("--repeats", "3", "--limit", "4", "--gen_kwargs", "do_sample=true,temperature=0.7")
    code, _, err = run(command, dataset, tmp_path / "a", lambda body: f"Title {next(turn) % 3} of it", *sampling)
    assert code == 0, err
    samples = read([tmp_path / "a"])
    assert len(samples) == 4
    assert all(len(one.repeats) == 3 for one in samples)
    assert all(one.scores["rouge_l"] == pytest.approx(sum(r["rouge_l"] for r in one.repeats) / 3) for one in samples)
    assert results(tmp_path / "a")["usage"]["answers"] == 12
    code, _, err = run(command, dataset, tmp_path / "b", lambda body: TITLE, "--repeats", "3", "--limit", "4")
    assert (code, "shows something only if the model samples" in err) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("concurrent", ["1", "2"])
def test_prompts_go_to_the_named_server_alone_and_answers_end(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrent: str
) -> None:
    monkeypatch.setattr("lm_eval_tasks.compat.lm_eval_answers.MOST_BYTES", 100_000)
    arguments = f",num_concurrent={concurrent},max_retries=1"
    with serve(lambda body: TITLE) as other:
        elsewhere = (307, {"Location": other.url.replace("127.0.0.1", "localhost") + "/chat/completions"}, "{}")
        for reply, words in (
            (elsewhere, "sends prompts on to"),
            ({"content": "x" * 200_000}, "an answer of more than"),
        ):
            with serve(lambda body, reply=reply: reply) as server:
                code, _, err = run_on(server.url, command, dataset, tmp_path / "a", "--limit", "2", args=arguments)
            assert (code, words in err) == (1, True), err
        assert not other.requests


@pytest.mark.long
def test_an_answer_that_was_cut_off_in_thoughts_out_of_sight_is_capped(
    command: Command, dataset: Path, tmp_path: Path
) -> None:
    usage = {"prompt_tokens": 9000, "completion_tokens": 64}
    for i, content in enumerate(("", None)):
        with serve(lambda body, content=content: {"content": content, "finish": "length", "usage": usage}) as server:
            for _ in range(2):
                code, _, err = run_on(server.url, command, dataset, tmp_path / str(i), "--limit", "2")
                assert code == 0, err
            assert len(server.requests) == 2
        found = results(tmp_path / str(i))
        assert scores(tmp_path / str(i))["capped"] == scores(tmp_path / str(i))["empty"] == 1.0
        assert (found["usage"]["tokens_out"], found["usage"]["finish"]) == (128, {"length": 2})


BAD: list[tuple[str, Callable[[dict[str, Any]], Reply]]] = [
    ("an error page", lambda body: (200, {"Content-Type": "text/html"}, "<html>Bad gateway</html>")),
    ("another object", lambda body: (200, {}, json.dumps({"error": {"message": "overloaded"}}))),
    ("a reset", lambda body: None),
    ("a wait of a year", lambda body: (429, {"Retry-After": "31536000"}, "{}")),
]


@pytest.mark.slow
@pytest.mark.parametrize("concurrent", [1, 2])
def test_answers_in_other_shapes_are_read_and_errors_with_status_200_are_tried_again(
    command: Command, dataset: Path, tmp_path: Path, concurrent: int
) -> None:
    overloaded = json.dumps({"error": {"message": "overloaded", "code": 503}})
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    replies: list[Reply] = [
        (200, {}, overloaded),
        (200, {}, json.dumps({"choices": [], "usage": {"prompt_tokens": 70_000, "completion_tokens": 1}})),
        {"content": [thinking, {"type": "text", "text": TITLE}]},
        {"content": [{"type": "text", "text": "A Good "}, {"type": "text", "text": "Title"}]},
    ]
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return replies.pop(0) if replies else TITLE

    arguments = f",num_concurrent={concurrent},max_retries=3"
    more = ("--limit", "3", "--gen_kwargs", "temperature=omit,seed=omit,stop=omit,n=omit")
    code, _, err = run(command, dataset, tmp_path / "a", answer, *more, args=arguments)
    assert code == 0, err
    assert {sample.answer for sample in read([tmp_path / "a"])} == {TITLE}
    assert (scores(tmp_path / "a")["empty"], len(asked)) == (0.0, 5)
    assert not any({"temperature", "seed", "stop"} & body.keys() for body in asked)
    assert results(tmp_path / "a")["usage"]["tokens_in"] > 70_000  # charged for, without an answer


def test_an_answer_that_comes_too_late_was_charged_for() -> None:
    server, lost = Queue[Any](), Queue[Any]()
    model: Any = SimpleNamespace(timeout=0.05, set_cache_hook=print, parse_generations=print, _create_payload=print)
    model.model_call = server.get
    Watch(model, print, lost.put, in_marks)
    with pytest.raises(TimeoutError):
        model.model_call()
    server.put({"usage": 7})
    assert lost.get(timeout=5) == 7


@pytest.mark.parametrize(("kind", "reply"), BAD, ids=[kind for kind, _ in BAD])
@pytest.mark.slow
def test_a_server_that_misbehaves_ends_the_run_in_one_sentence(
    command: Command, dataset: Path, tmp_path: Path, kind: str, reply: Callable[[dict[str, Any]], Reply]
) -> None:
    answered: list[int] = []

    def answer(body: dict[str, Any]) -> Reply:
        answered.append(1)
        return TITLE if len(answered) < 3 else reply(body)

    arguments = {"args": ",num_concurrent=1,max_retries=1"}
    code, _, err = run(command, dataset, tmp_path / "a", answer, "--limit", "4", **arguments)
    assert code == 1
    assert err.strip().splitlines()[-1].startswith("error: the model gave up")
    assert "Traceback" not in err
    kept = (tmp_path / "a" / "journal.jsonl").read_bytes().count(b"\n")
    assert kept == 2
    assert run(command, dataset, tmp_path / "a", lambda body: TITLE, "--limit", "4", **arguments)[0] == 0


@pytest.mark.slow
def test_what_can_be_seen_to_be_wrong_is_said_up_front(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*arguments: object) -> str:
        code, _, err = command("eval", "--output", tmp_path / "x", "--metadata", metadata(dataset), *arguments)
        assert code == 1
        assert err.count("\n") == 1, err
        return err

    task = ("--tasks", "academiceval_title_10k")
    assert "add --apply_chat_template" in told(
        "--model", "local-chat-completions", *task, "--model_args", "model=a,base_url=http://127.0.0.1:9/v1"
    )
    assert "did you mean 'academiceval_title_10k'" in told("--model", "lead", "--tasks", "academiceval_titel_10k")
    assert "--tasks names a task twice" in told("--model", "lead", "--tasks", "academiceval_plain,academiceval_abs")
    assert "the shard '9/3' is not of the form 1/8" in told("--model", "lead", *task, "--shard", "9/3")
    assert "leave out --limit" in told("--model", "lead", *task, "--shard", "1/3", "--limit", "3")
    assert "neither a number nor four" in told("--model", "lead", *task, "--seed", "1,2")
    assert "--samples is not JSON" in told("--model", "lead", *task, "--samples", "{")
    for samples in (
        '{"nope": [0]}',
        '{"academiceval_title_10k": [99]}',
        '{"academiceval_title_10k": []}',
        "{}",
        '{"academiceval_title_10k": 3}',
    ):
        assert "--samples" in told("--model", "lead", *task, "--samples", samples)
    assert "give one of them" in told(
        "--model", "lead", *task, "--samples", '{"academiceval_title_10k": [0]}', "--limit", "2"
    )
    for kwargs in ("max_gen_toks=-1", "max_gen_toks=abc", "n=abc", "a"):
        assert "--gen_kwargs" in told("--model", "lead", *task, "--gen_kwargs", kwargs)
    # Only requests to a server leave parameters out.
    assert "temperature=omit" in told("--model", "lead", *task, "--gen_kwargs", "temperature=omit")
    assert "neither a number nor four" in told("--model", "lead", *task, "--seed", "-1")
    bare = tmp_path / "bare"
    shutil.copytree(tiny_llama, bare)
    (bare / "chat_template.jinja").unlink()
    assert "has no chat template" in told(
        "--model", "hf", "--apply_chat_template", *task, "--model_args", f"pretrained={bare}"
    )
    for limit in ("0", "-1", "1.5", "none", "inf", "nan"):
        with pytest.raises(SystemExit):
            command("eval", "--model", "lead", *task, "--limit", limit)
        assert "is neither a number from 1 up nor a share" in capsys.readouterr().err


@pytest.mark.slow
def test_limit_samples_seed_and_config_are_lm_evals(command: Command, dataset: Path, tmp_path: Path) -> None:
    task = "academiceval_title_10k"
    file = tmp_path / "run.yaml"
    asked = {"model": "lead", "tasks": [task], "metadata": json.loads(metadata(dataset)), "limit": 3, "seed": 7}
    file.write_text(yaml.safe_dump({**asked, "output_path": str(tmp_path / "a"), "log_samples": True}))
    code, _, err = command("eval", "--config", file)
    assert code == 0, err
    assert len(read([tmp_path / "a"])) == 3
    assert command("eval", "--config", file, "--limit", "0.1", "--output", tmp_path / "b")[0] == 0
    assert len(read([tmp_path / "b"])) < 10
    places = json.dumps({task: [0, 2]})
    line = ("eval", "--model", "lead", "--tasks", task, "--metadata", metadata(dataset), "--output", tmp_path / "d")
    code, _, err = command(*line, "--samples", places)
    assert code == 0, err
    first = {one.id: one for one in read([tmp_path / "a"])}
    assert {one.id for one in read([tmp_path / "d"])} == set(list(first)[::2])


@pytest.mark.long
def test_a_baseline_that_does_not_apply_has_no_score(
    command: Command, dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    every = ("--tasks", "academiceval_abs", "--metadata", metadata(dataset), "--output", tmp_path / "a")
    code, out, err = command("eval", "--model", "copy-demo", *every)
    assert code == 0, err
    assert "academiceval_abs_9k" not in out
    assert "academiceval_abs_28k" in out
    again = ("--tasks", "academiceval_abs_9k", "--metadata", metadata(dataset), "--output")
    code, _, err = command("eval", "--model", "lead", *again, tmp_path / "a")
    assert (code, "contains the results of copy-demo: give each model its own --output folder" in err) == (1, True)
    assert "copy-demo has no score on academiceval_abs_9k" in caplog.text


@pytest.mark.slow
def test_a_plan_says_what_a_run_will_take(command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["{tiny_llama}"]\ninput = 1\noutput = 2\n')
    line = ("plan", "--metadata", metadata(dataset), "--tasks")
    model = ("--model_args", f"pretrained={tiny_llama},max_length=3000", "--prices", prices)
    code, out, err = command(*line, "academiceval_title", *model, *"--tokens-per-second 1000 100".split())
    assert code == 0, err
    assert re.search(
        r"\| academiceval_title_10k \| \d+ \| \d+ \| \d+ \| 1\.00 \| 3\d\d\d \||\| academiceval_title_10k .* \|", out
    )
    assert "1000" in out
    code, out, _ = command(*line, "academiceval_title_10k")
    assert code == 0
    assert "Input tokens are not known, at most about" in out
    part = command(*line, "academiceval_title_10k", "--limit", "2", "--repeats", "3")[1]
    assert "| academiceval_title_10k | 2 |  | 384 |" in part.replace("| |", "|  |")


@pytest.mark.slow
def test_a_key_in_place_of_a_models_name_becomes_no_file(command: Command, dataset: Path, tmp_path: Path) -> None:
    key = f"sk-{'a1' * 20}"
    line = ("--model", "local-chat-completions", "--model_args", f"model={key}", "--tasks", "academiceval_title_10k")
    code, out, err = command("eval", *line, "--metadata", metadata(dataset), "--output", tmp_path / "out")
    assert (code, "looks like a key" in err) == (1, True)
    assert key not in out + err
    assert not list(tmp_path.rglob("*sk-*"))


@pytest.mark.slow
@pytest.mark.parametrize("concurrent", [1, 2])
def test_an_answer_that_cannot_be_written_ends_the_run(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrent: int
) -> None:
    """The disk is full for a moment; servers' classes take any error for a failed request and would go on without the answer."""
    add, calls = Journal.add, itertools.count(1)

    def full_once(journal: Journal, *arguments: Any, **keywords: Any) -> None:
        if next(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(journal, *arguments, **keywords)

    monkeypatch.setattr(Journal, "add", full_once)
    code, _, err = run(
        command, dataset, tmp_path / "out", lambda _: "A title", args=f",num_concurrent={concurrent},max_retries=2"
    )
    assert code == 1
    assert ("No space left" in err, "the model gave up" in err) == (True, False), err
    monkeypatch.setattr(Journal, "add", add)
    assert run(command, dataset, tmp_path / "out", lambda _: "A title")[0] == 0
    assert all(one.answer == "A title" for one in read([tmp_path / "out"]))


@pytest.mark.slow
def test_a_plan_and_a_comparison_correct_for_the_same_rows(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    """Of one task, and of two with the row of their board: what one row of three can show is larger."""
    shown = []
    for tasks in ("academiceval_abs_9k", "academiceval_title_10k,academiceval_abs_9k"):
        out = command("plan", "--tasks", tasks, "--metadata", metadata(dataset))[1]
        line = next(line for line in out.splitlines() if line.startswith("| academiceval_abs_9k "))
        shown.append(float(line.rstrip("| ").split("|")[-2]))
    for model in ("lead", "function-words"):
        output = ("--output", tmp_path / model)
        code, _, err = command("eval", "--model", model, "--tasks", tasks, "--metadata", metadata(dataset), *output)
        assert code == 0, err
    code, out, err = command("compare", tmp_path / "lead", tmp_path / "function-words", "--format", "json")
    assert code == 0, err
    assert len(json.loads(out)) == 3
    like = ("--like", tmp_path / "lead", tmp_path / "function-words")
    planned = json.loads(
        command("plan", "--tasks", tasks, "--metadata", metadata(dataset), *like, "--format", "json")[1].splitlines()[0]
    )
    compared = {row["Task"]: float(row["Detectable"]) for row in json.loads(out)}
    assert [float(row["Detectable"]) for row in planned[:2]] == pytest.approx(
        [compared["Abs-9K"], compared["Title-10K"]], abs=6e-4
    )
    # Runs that say nothing of what is planned are not passed over.
    code, _, err = command("plan", "--tasks", "academiceval_abs_28k", "--metadata", metadata(dataset), *like)
    assert (code, "samples of Abs-9K" in err, "board" in err) == (1, True, False), err
    # What is asked with less to read is found by its name too.
    for model in ("a", "b"):
        output = ("--output", tmp_path / model, "--contexts", "none")
        other = ("--model", "hf", "--model_args", f"pretrained={tiny_llama},max_length=2048", "--limit", "12")
        asked = (*other, "--tasks", "academiceval_abs_9k", "--gen_kwargs", f"max_gen_toks={2 + (model == 'b')}")
        code, _, err = command("eval", *asked, "--metadata", metadata(dataset), *output)
        assert code == 0, err
    same = ("--like", tmp_path / "a", tmp_path / "b", "--limit", "12", "--contexts", "none")
    code, _, err = command("plan", "--tasks", "academiceval_abs_9k", "--metadata", metadata(dataset), *same)
    assert code == 0, err
    # The corrected test of three rows needs a larger difference, by the quantiles of t with few degrees of freedom.
    assert 1.1 < shown[1] / shown[0] < 1.4
    # Four times as many samples show half the difference.
    assert TaskPlan("t", "T", 10, 5, 0.1, 1000).tokens_to_show == 4000
    assert TaskPlan("t", "T", 10, 5, 0.1, None).tokens_to_show is None
    both = [TaskPlan("t", "T", 10, 5, 0.1, 1000), TaskPlan("u", "U", 10, 5, 0.05, 1000)]
    assert list(table(both).rows)[-1][-1] == 5000
    assert list(table([*both, TaskPlan("v", "V", 10, 5, 0.1, None)]).rows)[-1][-1] is None


@pytest.mark.slow
def test_prompts_are_exported_as_they_are_asked(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    asked: list[str] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body["messages"][-1]["content"])
        return TITLE

    context = {"tokenizer": str(tiny_llama), "max_length": 4000}
    run(command, dataset, tmp_path / "a", answer, **context)
    line = ("export", dataset, "--setting", "Title-10K", "--output")
    code, _, err = command(*line, tmp_path / "out.jsonl", "--metadata", json.dumps(context))
    assert code == 0, err
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sorted(row["messages"][0]["content"] for row in rows) == sorted(asked)
    assert all(0 < row["prompt_tokens"] <= row["tokens_before"] for row in rows)
    assert command(*line, tmp_path / "uncounted.jsonl")[0] == 0
    uncounted = [json.loads(line) for line in (tmp_path / "uncounted.jsonl").read_text().splitlines()]
    assert {(row["tokens_before"], row["prompt_tokens"]) for row in uncounted} == {(None, None)}
    assert all(row["size"] == len(row["messages"][0]["content"]) for row in uncounted)
    assert command("export", dataset, "--setting", "Poem-1K")[0] == 1


def test_a_small_sample_has_its_share_of_every_month_and_category() -> None:
    facts = [Fact(f"{m}.{i}", f"2026-{m:02d}-0{1 + i % 9}", f"cs.{'AB'[i % 2]}") for m in (1, 2, 3) for i in range(200)]
    places = representative_rows(range(600), facts, 60)
    assert len(set(places)) == 60
    counts = {
        (m, c): sum(facts[i].published[:7] == m and facts[i].category == c for i in places)
        for m in ("2026-01", "2026-02", "2026-03")
        for c in ("cs.A", "cs.B")
    }
    assert set(counts.values()) == {10}
    assert representative_rows(range(4), facts, 60) == [0, 1, 2, 3]


def test_vllms_answers_are_noted_as_they_end_and_with_what_it_says_of_them() -> None:
    """The model of lm-eval waits for a whole batch; a made-up engine stands in for vLLM's."""
    notes: list[tuple[str, str, Usage]] = []

    def output(ids: list[int], text: str) -> Any:
        answer = SimpleNamespace(text=text, token_ids=[1, 2], finish_reason="length")
        return SimpleNamespace(finished=True, prompt_token_ids=ids, outputs=[answer], num_cached_tokens=1)

    class Engine:
        def step(self) -> list[Any]:
            return [output([2, 2], "second")]

    class Model:
        def __init__(self) -> None:
            self.model = SimpleNamespace(llm_engine=Engine())

        def set_cache_hook(self, hook: Any) -> None:
            self.hook = hook

        def tok_encode(self, texts: list[str]) -> list[list[int]]:
            return [[len(text), len(text)] for text in texts]

        def _model_generate(self, requests: list[list[int]], generate: bool = False) -> list[Any]:
            self.model.llm_engine.step()
            return [output(ids, f"final {ids[0]}") for ids in requests]

        def generate(self, texts: list[str]) -> None:
            for text, one in zip(texts, self._model_generate(self.tok_encode(texts), generate=True), strict=True):
                self.hook.add_partial("generate_until", (text, {}), one.outputs[0].text)

    model = Model()
    Watch(
        model,
        lambda prompt, _, answer, *said: notes.append((prompt, answer, Usage.of_response(*said))),
        notes.append,
        in_marks,
    )  # type: ignore[arg-type]
    model.generate(["a", "bb"])
    usage = Usage(2, 2, None, 1, "length")
    assert notes == [("bb", "second", usage), ("a", "final 1", usage), ("bb", "final 2", usage)]
