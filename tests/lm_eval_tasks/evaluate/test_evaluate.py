"""`academiceval eval` and `compare`, and the plain lm_eval, as users run them."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import cutoff
from lm_eval_tasks.evaluate.exported import export, scoring_plan
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.samples.sample import read
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins.openai_server import completion, serve
from standins.places import BIN
from standins.runs import rewrite
from tests.helpers.evaluating import evaluate
from tests.helpers.served import Command, metadata, results, run_on, scores
from tests.helpers.warm import Warm

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "docs" / "configs").glob("*.yaml"))


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HOME": str(folder / "hf"),
        "OPENAI_API_KEY": "none",
        "HF_DATASETS_CACHE": str(folder / "datasets"),
    }


def title_of(body: dict[str, Any]) -> str:
    """A server that repeats the first five words of the title that it is shown."""
    prompt = body["messages"][-1]["content"]
    return " ".join(prompt.split("### Target Content Title: ")[-1].split()[:5])


@pytest.mark.slow
def test_a_killed_run_goes_on_and_no_answer_is_asked_for_twice(warm: Warm, dataset: Path, tmp_path: Path) -> None:
    def slow(body: dict[str, Any]) -> str:
        time.sleep(0.15)
        return title_of(body)

    with serve(slow) as server:
        command = [
            BIN / "academiceval",
            *"eval --model local-chat-completions --tasks academiceval_abs_9k,academiceval_title_10k --limit 6 --model_args".split(),
            f"model=tiny,base_url={server.url}/chat/completions",
            "--apply_chat_template",
            "--output",
            tmp_path / "out",
            "--metadata",
            metadata(dataset),
        ]
        first = warm.popen(command, env=environment(tmp_path))
        journal = tmp_path / "out" / "journal.jsonl"
        for _ in range(1200):
            time.sleep(0.05)
            if journal.is_file() and journal.read_bytes().count(b"\n") > 0:
                break
        assert first.kill_all(), "it ended before it was killed"
        kept = journal.read_bytes().count(b"\n")
        asked = len(server.requests)
        assert 0 < kept <= asked
        done = warm.run(command, env=environment(tmp_path))
        assert done.returncode == 0, done.stderr[-2000:]
        prompts = [body["messages"][-1]["content"] for body in server.requests]
        assert len(prompts) - len(set(prompts)) == asked - kept
        again = warm.run(command, env=environment(tmp_path))
        assert len(server.requests) == len(prompts)
    assert again.stdout == done.stdout
    finished = {(one.task, one.id): one.answer for one in read([tmp_path / "out"])}
    journaled = {(one.task, one.id): one.answer for one in read([tmp_path / "out" / "journal.jsonl"])}
    assert journaled == finished
    assert re.search(r"\| academiceval_abs_9k \| rouge_l \| 0\.\d{4} ", done.stdout)
    result = results(tmp_path / "out")
    assert result["rounds"] == ["2026.11"]
    assert result["prompt_versions"] == [1]
    assert result["run"]["model_args"]["model"] == "tiny"


@pytest.mark.long
def test_the_plain_lm_eval_asks_an_api_server_with_prompts_cut_to_a_given_context(
    warm: Warm, dataset: Path, tiny_llama: Path, tmp_path: Path
) -> None:
    with serve(title_of) as server:
        done = warm.run(
            [
                BIN / "lm_eval",
                *"--model local-chat-completions --tasks academiceval_abs_29k_g --include_path".split(),
                tasks_path(),
                "--model_args",
                f"model=tiny,base_url={server.url}/chat/completions,num_concurrent=2",
                *"--apply_chat_template --limit 3 --system_instruction".split(),
                "You are terse.",
                "--log_samples",
                "--output_path",
                tmp_path / "out",
                "--metadata",
                metadata(dataset, tokenizer=str(tiny_llama), max_length=3000),
                "--gen_kwargs",
                "max_gen_toks=100",
            ],
            env=environment(tmp_path),
        )
        assert done.returncode == 0, done.stderr[-2000:]
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    for body in server.requests:
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["max_tokens"] == 100
        rendered = tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        assert 2890 < len(tokenizer(rendered)["input_ids"]) <= 2900
        assert body["messages"][1]["content"].startswith("Please read the following")
        assert body["messages"][1]["content"].endswith("irrelevant text.")
    assert len(read([tmp_path / "out"])) == len(server.requests)


@pytest.mark.slow
def test_runs_are_compared_paper_by_paper(command: Command, dataset: Path, tmp_path: Path) -> None:
    for model in ("lead", "random-sentence"):
        evaluate(model, "", ["academiceval_abs"], json.loads(metadata(dataset)), None, tmp_path / model)
    code, out, _ = command("compare", tmp_path / "lead", tmp_path / "random-sentence", "--metrics", "rouge_l,rouge_2")
    assert code == 0
    lines = out.strip().splitlines()
    assert len(lines) == 2 + 4 * 2
    row = next(line for line in lines if line.startswith("| Abs-9K | rouge_l |"))
    names = ("lead", "random-sentence", "random-sentence - lead [95%]")
    a, b, difference = (float(row.split("|")[lines[0].split("|").index(f" {name} ")].split()[0]) for name in names)
    assert difference == pytest.approx(b - a, abs=2e-4)
    fewer = next((tmp_path / "lead").glob("samples_*abs_9k_*"))
    kept = fewer.read_text().splitlines(keepends=True)
    (tmp_path / "less").mkdir()
    (tmp_path / "less" / fewer.name).write_text("".join(kept[:-1]))
    code, out, _ = command("compare", tmp_path / "lead", tmp_path / "less", "--metrics", "rouge_l", "--all-columns")
    head, _, row = (line.strip("| ").split(" | ") for line in out.splitlines()[:3])
    shown = dict(zip(head, row, strict=True))
    assert (shown["Task"], shown["n"]) == ("Abs-9K", f"{len(kept) - 1} of {len(kept)} and {len(kept) - 1}")
    (tmp_path / "less" / fewer.name).write_text("".join(kept))
    same = command("compare", tmp_path / "lead", tmp_path / "less", "--metrics", "rouge_l")[1]
    assert "| +0.0000 | 1.0000 |" in same
    code, _, err = command("compare", tmp_path / "lead", tmp_path / "lead")
    assert (code, "cannot be compared with itself" in err) == (1, True)


@pytest.fixture(scope="module")
def lead_run(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "lead"
    evaluate("lead", "", ["academiceval_abs_9k"], json.loads(metadata(dataset)), None, folder)
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda doc: doc.update(row_hash="0", round="2026.10"), "of the rounds 2026.11 and 2026.10"),
        (lambda doc: doc.update(row_hash="0", prompt_version=7), "prompts have the versions 1 and 7"),
        (lambda doc: doc.update(row_hash="0", target="Another"), "so the round was built again"),
        (lambda doc: doc.update(row_hash="0", id="other" + doc["id"]), "asked different samples"),
        (lambda doc: doc.update(row_hash=""), "an earlier release made one of them"),
        (lambda doc: doc.update(setting="Abs-1K"), "which the task academiceval_abs_9k does not ask"),
    ],
)
@pytest.mark.slow
def test_runs_that_do_not_belong_together_are_refused(
    command: Command, lead_run: Path, tmp_path: Path, change: Callable[..., Any], message: str
) -> None:
    shutil.copytree(lead_run, tmp_path / "b")

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        change(line["doc"])
        return line

    rewrite(tmp_path / "b", changed)
    code, _, err = command("compare", lead_run, tmp_path / "b")
    assert code == 1
    assert re.search(message, err)
    code, _, err = command("compare", lead_run, tmp_path / "nowhere.jsonl")
    assert code == 1
    assert "nowhere.jsonl does not exist" in err


def test_models_that_cannot_be_opened_are_named(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    import torch

    def told(*arguments: object) -> str:
        code, _, err = command(
            *"eval --tasks academiceval_abs_9k --output".split(),
            tmp_path / "out",
            "--metadata",
            metadata(dataset),
            *arguments,
        )
        assert code == 1
        assert err.count("\n") == 1
        return err

    assert "'gpt' is neither a baseline" in told("--model", "gpt")
    assert "needs pretrained=" in told("--model", "hf")
    gone = "model=x,base_url=http://127.0.0.1:9/v1/chat/completions,max_length=4096,max_retries=1"
    line = ("--model", "local-chat-completions", "--apply_chat_template", "--model_args", gone)
    assert "nothing answers at http://127.0.0.1:9/" in told(*line)
    for name in ("nobody/nothing", "nothing"):
        assert f"'{name}' is not in the cache here" in told("--model", "hf", "--model_args", f"pretrained={name}")
    for name in ("./nope", "../nope"):
        assert name in told("--model", "hf", "--model_args", f"pretrained={name}")
    (tmp_path / "empty").mkdir()
    assert "cannot be opened" in told("--model", "hf", "--model_args", f"pretrained={tmp_path / 'empty'}")
    if not torch.cuda.is_available():
        assert "there is no GPU here" in told(
            "--model", "hf", "--device", "cuda:0", "--model_args", f"pretrained={tiny_llama}"
        )
        assert "vllm needs vllm" in told("--model", "vllm", "--model_args", f"pretrained={tiny_llama}")


@pytest.mark.slow
def test_another_round_than_the_pinned_one_is_refused(
    command: Callable[..., Any], dataset: Path, tmp_path: Path
) -> None:
    arguments = (*"eval --model lead --tasks academiceval_abs_9k --output".split(), tmp_path / "out", "--metadata")
    code, _, err = command(*arguments, metadata(dataset, round="2026.12"))
    assert code == 1
    assert "is round 2026.11, but round 2026.12 was asked for" in err
    assert command(*arguments, metadata(dataset, round="2026.11"))[0] == 0


def test_what_the_model_may_have_seen_is_said(
    dataset: Path, tmp_path: Path, tiny_llama: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from lm_eval_tasks.families.writing import hook

    model = tmp_path / "model"
    shutil.copytree(tiny_llama, model)
    (model / "README.md").write_text("# Tiny\n\n**Knowledge cut-off:** December 2099\n")
    hook.load("Abs-9K", 512, dataset=str(dataset), bertscore_model="none", pretrained=str(model))
    assert "papers were published up to the model's cut-off 2099-12" in caplog.text
    assert "published_after=2099-12-31 leaves them out" in caplog.text
    caplog.clear()
    hook.load(
        "Abs-9K", 512, dataset=str(dataset), bertscore_model="none", pretrained=str(model), model_cutoff="2001-02"
    )
    assert "cut-off" not in caplog.text
    assert [cutoff.of_name(f"openai/gpt-5{of}") for of in ("-2025-08-07", ".2-2025-12-11")] == ["2024-09", None]


@pytest.mark.parametrize(
    ("card", "month"),
    [
        ("Its knowledge cutoff is March 2023.", "2023-03"),
        ("| Data cut-off | Jun, 2025 |", "2025-06"),
        ("cut off of 2024-06 for pretraining", "2024-06"),
        ("cutoff frequency of the filter\n\nReleased May 2024", None),
        ("a cutoff of much use, by mayhem 2024", None),
    ],
)
def test_cut_offs_are_read_from_cards(card: str, month: str | None) -> None:
    assert cutoff.of_card(card) == month


def test_lm_evals_own_arguments_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("gen_kwargs: {max_gen_toks: 77}\nsystem_instruction: From the file.\n")
    for argv, expected in (
        (["academiceval", "--gen_kwargs", "max_gen_toks=5"], ("", None)),
        (["lm_eval", "--gen_kwargs", "temperature=0,max_gen_toks=5"], ("", 5)),
        (
            ["lm_eval", "run", "--gen_kwargs", "temperature=0", "max_gen_toks=6", "--system_instruction", "Hello"],
            ("Hello", 6),
        ),
        (["lm_eval", "run", "--gen_kwargs", '{"max_gen_toks": 9}'], ("", 9)),
        (["lm-eval", "run", "--config", str(file)], ("From the file.", 77)),
        (["lm_eval", "--config", str(file), "--gen_kwargs", "max_gen_toks=8"], ("From the file.", 8)),
        (["lm_eval", "--config", str(tmp_path / "none.yaml")], ("", None)),
    ):
        monkeypatch.setattr("sys.argv", argv)
        seen = command_line.run_arguments()
        assert (seen.system_instruction, seen.max_gen_toks) == expected
    for given in (
        ["bertscore_model=none", "published_aftr=2026-09-01"],
        ['{"bertscore_model": "none", "published_aftr": 1}'],
    ):
        monkeypatch.setattr("sys.argv", ["lm_eval", "--metadata", *given])
        assert set(command_line.run_arguments().metadata) == {"bertscore_model", "published_aftr"}


@pytest.mark.long
def test_the_example_configurations_are_lm_evals(warm: Warm, dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    from lm_eval.config.evaluate_config import EvaluatorConfig

    assert len(CONFIGS) >= 3
    for path in CONFIGS:
        config = EvaluatorConfig.from_config(path)
        assert config.apply_chat_template
        assert "academiceval" in str(config.tasks)
        assert {"max_model_len", "max_length", "hf_overrides"} & set(config.model_args)
        if config.model == "vllm":
            assert {"tensor_parallel_size", "enable_prefix_caching"} <= set(config.model_args)
    small = yaml.safe_load(CONFIGS[0].read_text())
    small["model_args"]["pretrained"] = str(tiny_llama)
    small |= {"tasks": ["academiceval_title_10k"], "limit": 1, "device": "cpu", "apply_chat_template": False}
    small |= {"metadata": json.loads(metadata(dataset)), "include_path": str(tasks_path())}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({**small, "output_path": str(tmp_path / "out")}))
    done = warm.run([BIN / "lm_eval", "run", "--config", tmp_path / "run.yaml"], env=environment(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(read([tmp_path / "out"])) == 1


@pytest.mark.slow
def test_an_empty_answer_of_a_server_is_asked_for_again(warm: Warm, dataset: Path, tmp_path: Path) -> None:
    """A server that fails may look like a model that has nothing to say."""
    ill = [True]
    with serve(lambda body: "" if ill[0] else "A good title") as server:
        command = [
            BIN / "academiceval",
            *"eval --model local-chat-completions --tasks academiceval_title_10k --limit 2 --model_args".split(),
            f"model=tiny,base_url={server.url}/chat/completions,api_key=plainsecret777",
            "--apply_chat_template",
            "--output",
            tmp_path / "out",
            "--metadata",
            metadata(dataset, api_key=["listedsecret777"]),
        ]
        first = warm.run(command, env=environment(tmp_path), check=True)
        assert "2 of 2 answers are empty" in first.stderr
        ill[0] = False
        again = warm.run(command, env=environment(tmp_path), check=True)
        assert "answers are empty" not in again.stderr
        assert len(server.requests) == 4
    assert "secret777" not in "".join(path.read_text() for path in (tmp_path / "out").iterdir() if path.suffix)
    assert scores(tmp_path / "out")["empty"] == 0.0
    usage = results(tmp_path / "out")["usage"]
    assert (usage["answers"], usage["tokens_in"], usage["tokens_out"]) == (2, 4, 4)


def test_a_card_that_names_data_elsewhere_is_not_asked(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "ds")
    [file, *_] = sorted((tmp_path / "ds" / "Abs-9K").glob("test-*.parquet"))
    [other, *_] = sorted((tmp_path / "ds" / "Abs-9K").glob("train-*.parquet"))
    shutil.copy(other, tmp_path / file.name)
    card = tmp_path / "ds" / "README.md"
    card.write_text(card.read_text().replace(f"Abs-9K/{file.name}", f"../{file.name}"))
    run = [
        evaluate("lead", "", ["academiceval_abs_9k"], json.loads(metadata(place)), SampleSelection(1), None)
        for place in (tmp_path / "ds", dataset)
    ]
    assert run[0] == run[1]


@pytest.mark.slow
def test_a_servers_own_words_reach_the_user(command: Command, dataset: Path, tmp_path: Path) -> None:
    words = "This model's maximum context length is 2048 tokens. However, you requested 9000 tokens."
    reply = (400, {}, json.dumps({"error": {"message": words, "type": "BadRequestError"}}))
    with serve(lambda body: reply) as server:
        for concurrent in (1, 2):
            line = (server.url, command, dataset, tmp_path / str(concurrent), "--limit", "2")
            code, _, err = run_on(*line, args=f",max_retries=1,num_concurrent={concurrent}")
            assert code == 1
            assert f"the server says: {words}" in err
            assert "name tokenizer and max_length in --model_args" in err


@pytest.mark.slow
def test_a_server_that_answers_as_another_model_half_way_is_named(
    command: Command, dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In one run, and in one that goes on where another model stopped."""
    names = itertools.cycle(["first", "second"])
    with serve(lambda body: completed(body, next(names))) as server:
        line = (server.url, command, dataset, tmp_path, "--limit", "3")
        code, _, err = run_on(*line)
        assert code == 0, err
        assert "answered as several models (first, second)" in caplog.text
        server.answer = lambda body: completed(body, "third")
        assert run_on(*line)[0] == 0
    block = only_result(tmp_path).block
    assert block is not None
    assert block.run.served_as == ("first", "second")
    assert block.usage.served == {"first": 2, "second": 1}
    assert "answered as | first (2), second (1)" in command("show", tmp_path)[1]
    program = ("eval", "--model", "lead", "--tasks", "academiceval_title_10k", "--metadata", metadata(dataset))
    assert command(*program, "--output", tmp_path.with_name("lead"))[0] == 0
    compared = command("compare", tmp_path, tmp_path.with_name("lead"))[1]
    assert f"{tmp_path} was answered by several models: first, second" in compared


def completed(body: dict[str, Any], model: str) -> tuple[int, dict[str, str], str]:
    return 200, {"Content-Type": "application/json"}, json.dumps(completion(body, "A title") | {"model": model})


@pytest.mark.slow
def test_equal_prompts_are_asked_once_and_gain_nothing(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = count()
    with serve(lambda body: f"A title that differs each time, {next(answers)}") as server:
        window = f",tokenizer={tiny_llama},max_length=1100"
        line = (server.url, command, dataset, tmp_path, "--contexts", "start,full", "--limit")
        code, out, err = run_on(*line, "3", args=window)
        assert code == 0, err
        assert len(server.requests) == 3
        assert run_on(*line, "4", args=window)[0] == 0
        assert len(server.requests) == 4
    start, full = (
        {sample.id: sample for sample in read([file])}
        for file in sorted(tmp_path.glob("samples_*.jsonl"), reverse=True)
    )
    assert {id_: sample.answer for id_, sample in start.items()} == {id_: sample.answer for id_, sample in full.items()}
    assert "no gain over the context 'start' is stated, because 4 of 4 prompts are the same" in caplog.text
    assert "start *" not in out
    assert "13 of 13 prompts are cut" in caplog.text


@pytest.mark.slow
def test_a_second_run_replaces_the_same_tasks_and_no_others(command: Command, dataset: Path, tmp_path: Path) -> None:
    one, both = "academiceval_abs_9k", "academiceval_abs_9k,academiceval_title_10k"

    def run(output: str, tasks: str, *more: object) -> tuple[int, str, str]:
        options = ("--metadata", metadata(dataset), "--output", tmp_path / output, *more)
        return command("eval", "--model", "lead", "--tasks", tasks, *options)

    def refused() -> bool:
        code, _, err = run("twice", "academiceval_title_10k")
        return (code, "has results of academiceval_abs" in err, err.count("\n")) == (1, True, 1)

    assert run("twice", one)[0] == 0
    before = only_result(tmp_path / "twice")
    assert refused()
    assert only_result(tmp_path / "twice").content == before.content
    before.path.unlink()
    assert refused()
    assert run("twice", both)[0] == run("once", both)[0] == 0
    twice, once = (only_result(tmp_path / name) for name in ("twice", "once"))
    assert twice.scores == once.scores
    assert twice.content["results"].keys() == once.content["results"].keys() == set(both.split(","))
    assert twice.block is not None and once.block is not None
    assert twice.block.usage.answers == once.block.usage.answers
    assert run("twice", "academiceval_abs,academiceval_title", "--limit", "1")[0] == 0
    assert {counts[0] for counts in only_result(tmp_path / "twice").subsets.values()} == {1}
    for file in (tmp_path / "twice").glob("samples_*"):
        file.unlink()
    assert refused()


def test_without_a_folder_a_run_has_one_of_its_own(
    dataset: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--metadata", metadata(dataset))
    code, out, err = command(*line)
    assert code == 0, err
    [folder] = (tmp_path / "results" / "lead").iterdir()
    assert f"written: {folder.relative_to(tmp_path)}" in out
    # As a kill leaves it: the same command goes on there.
    for file in folder.glob("*lead*"):
        file.unlink()
    assert command(*line)[0] == 0
    assert list((tmp_path / "results" / "lead").iterdir()) == [folder]
    assert command("eval", "--model", "lead", "--tasks", "academiceval_no_such")[0] == 1
    assert list((tmp_path / "results" / "lead").iterdir()) == [folder]
    # The model's folder stands for its newest run.
    shutil.copytree(folder, folder.with_name("2020-01-01T00-00-00"))
    assert command("show", "results/lead")[0] == 0
    other = (*line[:2], "random-sentence", *line[3:])
    assert command(*other)[0] == 0
    code, out, err = command("compare", "results/lead", "results/random-sentence")
    assert (code, "random-sentence" in out) == (0, True), err


ARGUMENTS = {"tokenizer": "{tiny}", "max_length": 2000, "num_concurrent": 8, "gguf_file": "", "trust_remote_code": True}


@pytest.mark.parametrize(
    ("options", "shown", "is_cut"),
    [
        ({"context": "none"}, "Abs-9K none", False),
        ({"context": "retrieved", "retriever": "bm25", "chunks": 3}, "Abs-9K retrieved bm25", False),
        (ARGUMENTS, "Abs-9K", True),
        ({"cut": "middle", "tokenizer": "{tiny}", "max_length": 2000}, "Abs-9K", True),
    ],
)
def test_a_score_belongs_to_the_prompt_that_was_exported(
    options: dict[str, Any],
    shown: str,
    is_cut: bool,
    dataset: Path,
    tiny_llama: Path,
    command: Command,
    tmp_path: Path,
) -> None:
    options = {key: str(tiny_llama) if value == "{tiny}" else value for key, value in options.items()}
    prompts, given = tmp_path / "prompts.jsonl", tmp_path / "given.jsonl"
    given_as = ("--model_args" if "num_concurrent" in options else "--metadata", json.dumps(options))
    assert command("export", dataset, "--setting", "Abs-9K", *given_as, "--output", prompts)[0] == 0
    rows = [{**json.loads(line), "answer": "A text."} for line in prompts.read_text().splitlines()]
    line = ("score", given, "--dataset", dataset, "--bertscore", "none", "--output")
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = command(*line, tmp_path / "run")
    assert code == 0, err
    samples = read([tmp_path / "run"])
    assert {sample.task for sample in samples} == {shown}
    assert all(bool(sample.scores.get("truncated")) is is_cut for sample in samples)
    # A file decides nothing about whose code is run, or which dataset is scored; a number may be given as text.
    told = {"trust_remote_code": True, "dataset": "other", "model_cutoff": "2020-01"}
    given.write_text("".join(json.dumps({**row, "options": {**row["options"], **told}}) + "\n" for row in rows))
    typed = {key: str(value) for key, value in options.items() if key == "max_length"}
    plan = scoring_plan(given, "m", typed, SampleSelection(), tmp_path / "plan")
    assert not told.keys() & plan.metadata.keys()
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given.write_text("".join(json.dumps({**row, "options": {}}) + "\n" for row in rows))
    code, _, err = command(*line, tmp_path / "other")
    assert (code, "another prompt than its options give here" in err, err.count("\n")) == (1, True, 1), err


def test_what_is_asked_by_likelihood_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="by likelihood"):
        export("Recall-4K", "", {}, tmp_path / "none.jsonl")


def test_answers_from_elsewhere_are_scored_by_the_rows_that_they_are_of(
    dataset: Path, lead_run: Path, command: Command, tmp_path: Path
) -> None:
    prompts, given = tmp_path / "prompts.jsonl", tmp_path / "given.jsonl"
    assert command("export", dataset, "--setting", "Abs-9K", "--output", prompts)[0] == 0
    answers = {sample.id: sample.answer for sample in read([lead_run])}
    lines = [json.loads(line) for line in prompts.read_text().splitlines()]
    rows = [{**line, "answer": answers[line["id"]]} for line in lines]

    def scored(rows: list[dict[str, Any]], output: str, *more: str) -> tuple[int, str, str]:
        given.write_text("".join(json.dumps(row) + "\n" for row in rows))
        line = ("score", given, "--name", "elsewhere", "--dataset", dataset, "--bertscore", "none")
        return command(*line, "--output", tmp_path / output, *more)

    code, _, err = scored(rows, "elsewhere")
    assert code == 0, err
    both = [
        {sample.id: sample.scores["rouge_l"] for sample in read([run])} for run in (lead_run, tmp_path / "elsewhere")
    ]
    assert both[0] == both[1]
    code, out, err = command("compare", lead_run, tmp_path / "elsewhere")
    assert (code, "+0.0000" in out) == (0, True), err
    names = ("id", "row_hash", "prompt_hash", "setting", "options", "answer")
    assert scored([{name: row[name] for name in names} for row in rows], "bare")[0] == 0
    assert {sample.id: sample.scores["rouge_l"] for sample in read([tmp_path / "bare"])} == both[0]
    code, out, err = scored([*rows, {**rows[0], "id": "2601.99999v1"}], "more")
    assert (code, "1 answers are to rows that were not asked, first Abs-9K 2601.99999v1" in out) == (0, True), err
    # Corrected answers under the same name are asked for again.
    code, out, err = scored([{**row, "answer": "Nothing."} for row in rows], "elsewhere")
    assert (code, "| 0.0000" in out) == (0, True), err
    for odd, words in (
        (rows[1:], "has no answer to 1 of"),
        ([{**rows[0], "row_hash": "0"}, *rows[1:]], "a row with other contents"),
        ([{**rows[0], "options": {"cut": "middle"}}, *rows[1:]], "made with different options"),
        ([rows[0], *rows], "is a second answer to"),
        ([{"id": "a"}], "is no exported line"),
        ([{**rows[0], "setting": "Poem-1K"}], "no task asks the setting"),
    ):
        code, _, err = scored(odd, "odd")
        assert (code, words in err, err.count("\n")) == (1, True, 1), err
