"""Results belong to the data, the weights and the samples that they name, or there are none."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lm_eval_tasks import families
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import known_sha256
from lm_eval_tasks.data.opened import open_dataset, rows_of_split
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.families import score
from lm_eval_tasks.families.descriptor import Metric
from lm_eval_tasks.families.writing import answering as writing
from lm_eval_tasks.llm.weights import pinned, weights_of
from lm_eval_tasks.samples.answers import Answers, ScoredAnswer
from lm_eval_tasks.samples.sample import read
from standins.places import table_beside
from standins.runs import arguments_of_lead, evaluated
from tests.helpers.samples import own, sample
from tests.helpers.served import Command, metadata, results, scores

# --- data


@pytest.mark.slow
def test_data_that_is_not_what_the_manifest_says_is_refused(command: Command, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "round"
    shutil.copytree(dataset, folder)
    scores_before = scores(evaluated(command, folder, tmp_path / "before"))
    [file] = (folder / "Abs-9K").glob("test-*.parquet")
    original = file.read_bytes()
    table = pq.read_table(file)
    targets = table.column("target").to_pylist()
    place = table.schema.get_field_index("target")
    pq.write_table(table.set_column(place, "target", pa.array(targets[1:] + targets[:1])), file)
    code, _, err = command(*arguments_of_lead(folder, tmp_path / "rotated"))
    assert (code, f"{file} is not the file that" in err) == (1, True), err
    # One bit, in place, with the old time of change.
    facts = file.stat()
    file.write_bytes(original[:-9] + bytes([original[-9] ^ 1]) + original[-8:])
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert command(*arguments_of_lead(folder, tmp_path / "flipped"))[0] == 1
    file.write_bytes(original)
    assert scores(evaluated(command, folder, tmp_path / "after")) == scores_before


@pytest.mark.slow
def test_a_folder_whose_name_is_a_pattern_is_opened_and_not_its_neighbour(
    command: Command, dataset: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(dataset, tmp_path / "round[1]")
    neighbour = shutil.copytree(dataset, tmp_path / "round1")
    for file in (neighbour / "Abs-9K").glob("test-*.parquet"):
        table = pq.read_table(file)
        titles = pa.array(["Another"] * len(table))
        pq.write_table(table.set_column(table.column_names.index("title"), "title", titles), file)
    asked = ("export", folder, "--setting", "Abs-9K", "--output", tmp_path / "prompts.jsonl")
    code, _, err = command(*asked)
    assert code == 0, err
    assert "Another" not in (tmp_path / "prompts.jsonl").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda entries: entries[0].update(splits={}), "has no test sample in this dataset"),
        (lambda entries: entries[0]["splits"].pop("test"), "has no test sample in this dataset"),
        (lambda entries: entries[0].update(splits=None), r"configurations\[0\]\.splits"),
        (lambda entries: entries.append(entries[0]), "two configurations have the same name"),
    ],
)
def test_a_configuration_without_files_is_named(
    change: Callable[[list[dict[str, Any]]], object], says: str, dataset: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(dataset, tmp_path / "dataset")
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest["configurations"])
    (folder / "manifest.json").write_text(json.dumps(manifest))
    options = Options.of({"dataset": str(folder), "bertscore_model": "none"})
    name = manifest["configurations"][0]["name"]
    with pytest.raises(DatasetError, match=says):
        rows_of_split(open_dataset(name, options), name, options)


@pytest.mark.slow
def test_a_script_in_a_folder_is_not_run(command: Command, dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "dataset")
    (tmp_path / "dataset" / "dataset.py").write_text("raise SystemExit('run')")
    code, _, err = command(*arguments_of_lead(tmp_path / "dataset", tmp_path / "out"))
    assert (code, err) == (0, "")


def test_hashes_are_remembered_as_long_as_a_file_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "file"
    file.write_text("one")
    os.utime(file, (1, 1))
    first = known_sha256(file)
    with monkeypatch.context() as patch:
        patch.setattr("lm_eval_tasks.base.files.sha256_of", lambda path: pytest.fail("it is hashed again"))
        assert known_sha256(file) == first
    file.write_text("two")
    os.utime(file, (1, 1))
    assert known_sha256(file) != first
    # A cache that cannot be written costs time alone.
    (tmp_path / "taken").touch()
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path / "taken"))
    assert known_sha256(file) == known_sha256(file)


# --- weights


@pytest.mark.slow
def test_other_weights_under_the_same_path_answer_again(
    command: Command, dataset: Path, tmp_path: Path, tiny_llama: Path
) -> None:
    import transformers

    weights = tmp_path / "model"
    shutil.copytree(tiny_llama, weights)
    asked = (
        *("eval", "--model", "hf", "--model_args", f"pretrained={weights}", "--tasks", "academiceval_title_10k"),
        *("--limit", "2", "--gen_kwargs", "max_gen_toks=4"),
        *("--metadata", metadata(dataset), "--output", tmp_path / "out"),
    )

    def run() -> dict[str, Any]:
        code, _, err = command(*asked)
        assert code == 0, err
        return results(tmp_path / "out")

    first = run()
    assert first["usage"]["asked_in_this_run"] == 2
    engine = first["made_with"]["engine"]
    assert (engine["name"], engine["dtype"], engine["quantization"]) == ("transformers", "float32", None)
    assert (engine["version"], engine["rope"]["rope_type"]) == (transformers.__version__, "default")
    assert run()["usage"]["asked_in_this_run"] == 0
    import torch
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights / "model.safetensors")
    changed = {name: torch.flip(tensor, (0,)).contiguous() for name, tensor in tensors.items()}
    save_file(changed, weights / "model.safetensors", metadata={"format": "pt"})
    second = run()
    assert second["usage"]["asked_in_this_run"] == 2
    assert first["run"]["weights"].keys() == {"pretrained"} == second["run"]["weights"].keys()
    assert first["run"]["weights"] != second["run"]["weights"]


def test_weights_are_known_by_their_files_or_their_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = "0" * 39 + "1"
    snapshot = tmp_path / "hub" / "models--org--tiny" / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    asked = {"pretrained": "org/tiny", "tokenizer": "org/tiny", "device": "cpu"}
    assert weights_of("huggingface", asked) == {"pretrained": commit, "tokenizer": commit}
    weights = weights_of("hf", {"pretrained": "org/tiny", "revision": commit})
    assert weights == {"pretrained": commit}
    # What was fetched by its commit has no name in the cache.
    (snapshot.parents[1] / "refs" / "main").unlink()
    assert weights_of("hf", {"pretrained": "org/tiny"}) == weights
    assert pinned({"pretrained": "org/tiny"}, weights)["revision"] == commit
    # Another repository would be asked for that commit too.
    assert "revision" not in pinned({"pretrained": "org/tiny", "tokenizer": "org/other"}, weights)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.bin").write_text("weights")
    each = [weights_of("vllm", {"pretrained": str(tmp_path / name)}) for name in ("a", "b")]
    assert each[0] == each[1]
    (tmp_path / "b" / "model.bin").write_text("Weights")
    assert weights_of("vllm", {"pretrained": str(tmp_path / "b")}) != each[0]
    (tmp_path / "a" / "part").mkdir()
    (tmp_path / "a" / "part" / "model.bin").write_text("more weights")
    deep = weights_of("nemo_lm", {"path": str(tmp_path / "a")})["path"]
    assert deep != each[0]["pretrained"]
    (tmp_path / "a" / "checkpoint-5").mkdir()
    (tmp_path / "a" / "checkpoint-5" / "model.bin").write_text("of a training")
    (tmp_path / "a" / "part" / "loop").symlink_to(tmp_path / "a")
    assert weights_of("nemo_lm", {"path": str(tmp_path / "a")})["path"] == deep
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "model.bin").write_text("linked weights")
    (tmp_path / "a" / "link").symlink_to(tmp_path / "linked")
    assert weights_of("nemo_lm", {"path": str(tmp_path / "a")})["path"] != deep
    (tmp_path / "a" / "link").unlink()
    (tmp_path / "a" / "part" / "model.bin").write_text("other weights")
    assert weights_of("nemo_lm", {"path": str(tmp_path / "a")})["path"] != deep
    assert weights_of("local-chat-completions", {"model": "m", "tokenizer": str(tmp_path / "a")}) == {}


# --- samples


@pytest.mark.slow
def test_samples_of_an_earlier_run_are_not_taken_for_this_one(
    command: Command, dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = evaluated(command, dataset, tmp_path / "run")
    [file] = run.glob("samples_*")
    assert results(run)["files"] == {"samples_academiceval_abs_9k_lead.jsonl": known_sha256(file)}
    count = len(read([run]))
    shutil.copy(file, run / "samples_academiceval_abs_28k_lead.jsonl")
    assert len(read([run])) == count
    assert "an earlier run left it there" in caplog.text
    code, out, err = command("report", run, "-o", tmp_path / "site")
    assert (code, "1 model, 1 setting" in out) == (0, True), err
    # A sample that was changed later is another run's.
    file.write_text(file.read_text().replace('"rouge_l": 0.', '"rouge_l": 0.9'))
    other = evaluated(command, dataset, tmp_path / "other")
    for argv in (("compare", run, other), ("report", run, "-o", tmp_path / "site"), ("judge", run, "--dry-run")):
        code, _, err = command(*argv)
        assert (code, f"{file} is not the file that results_lead.json lists" in err) == (1, True), err
    # To run the task again is what the sentence advises.
    evaluated(command, dataset, run)
    assert len(read([run])) == count
    file.unlink()
    code, _, err = command("report", run, "-o", tmp_path / "site")
    assert (code, "is missing, which results_lead.json lists" in err) == (1, True), err


# --- texts

_PIECES = table_beside(__file__, "pieces.json")


def _text(rng: random.Random, most: int) -> str:
    return "".join(rng.choice(_PIECES) + rng.choice(("", " ")) for _ in range(rng.randrange(most)))


def test_no_text_stops_scoring() -> None:
    rng = random.Random(7)
    docs, answers = [], []
    for i in range(400):
        texts = {name: _text(rng, 40).replace("\ud800", "") for name in ("target", "prompt", "title")}
        row = {"bertscore_model": "none", "metrics": "all", "opens": rng.choice(("", "<think>"))}
        docs.append(sample(f"2601.{i:05}v1", "A", {}, **texts, **row).row.to_doc())
        answers.append([_text(rng, 60)])
    for prompt_name in ("abs_short", "title_short", "scalar"):
        others = {} if prompt_name == "scalar" else {"others": ["Another title"]}
        asked = [{**doc, "prompt_name": prompt_name, "own": own(prompt_name, **others)} for doc in docs]
        scored = [ScoredAnswer.from_text(text) for text in score.score(answers, asked)]
        assert len(scored) == len(docs)
        assert not any(one.failed for one in scored)


def _register(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    family = families.of_task("abs")
    replaced = replace(family, metrics=(metric, *family.metrics))
    monkeypatch.setattr(families, "of_task", lambda task: replaced)


def test_a_metric_that_fails_on_an_answer_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(answers: Answers) -> Sequence[float | None]:
        return [1 / (answer.text != "bad") for answer in answers.each]

    monkeypatch.setattr(writing, "brittle", fails, raising=False)
    _register(Metric("brittle", "Brittle", "higher", "families.writing.answering"), monkeypatch)
    docs = [sample(f"2601.0000{i}v1", "A", {}, target="x y z", bertscore_model="none").row.to_doc() for i in range(3)]
    scored = [ScoredAnswer.from_text(text) for text in score.score([["a"], ["bad"], ["c"]], docs)]
    assert [one.scores.get("brittle") for one in scored] == [1, None, 1]
    assert [one.failed for one in scored] == [(), ("brittle",), ()]
    assert all("rouge_l" in one.scores for one in scored)


def test_what_is_not_a_texts_fault_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(answers: Answers) -> Sequence[float | None]:
        raise OSError("no room for the model")

    monkeypatch.setattr(writing, "broken", breaks, raising=False)
    _register(Metric("broken", "Broken", "higher", "families.writing.answering"), monkeypatch)
    with pytest.raises(OSError, match="no room"):
        score.score([["a"]], [sample("2601.00001v1", "A", {}, target="x", bertscore_model="none").row.to_doc()])
