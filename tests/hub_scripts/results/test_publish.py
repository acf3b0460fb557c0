"""push-results against a Hub on this machine, with the real client: what its readers see of scores."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, HfApi, eval_result_entries_to_yaml, parse_eval_result_entries

from builder.dataset.folder import finish
from hub_scripts.results.leaderboard import SOURCE
from lm_eval_tasks.families.rounds import read_manifest
from standins.hub_server import Blob, Fault, Hub, Repository
from tests.helpers.served import Command

pytestmark = pytest.mark.slow

REPO = "org/academiceval"
RESULTS, MODEL = "datasets/org/results", "models/org/tiny"
FILE = ".eval_results/academiceval.yaml"
PUSH = ("--repo", "org/results", "--card", "org/tiny", "--yes")


def tree(hub: Hub, key: str, revision: str = "main") -> dict[str, str]:
    """Path -> text of the files that a reader of a repository sees."""
    files = hub.repos[key].resolve(revision).tree
    return {
        path: blob.data.decode(errors="replace") for path, blob in sorted(files.items()) if path != ".gitattributes"
    }


RESULT = {
    "results": {"academiceval_abs_9k": {"rouge_l,score": 0.25}},
    "academiceval": {
        "format": 1,
        "run": {"model": "hf", "model_args": {}, "metadata": {"dataset": "academiceval"}},
        "datasets": ["a" * 64],
        "rounds": ["2026.11"],
        "prompt_versions": [1],
        "scores": [
            {
                "model": "tiny",
                "task": "academiceval_abs_9k",
                "metric": metric,
                "value": 0.25,
                "low": 0.2,
                "high": 0.3,
                "samples": 4,
            }
            for metric in ("rouge_l", "empty")
        ],
        "months": {},
    },
}


def test_results(command: Command, hub: Hub, tmp_path: Path) -> None:
    file = tmp_path / "results_tiny.json"
    file.write_text(json.dumps(RESULT))
    push = ("push-results", file, *PUSH)
    for one in (push[:-1], push):
        code, _, err = command(*one)
        assert (code, "org/tiny does not exist" in err) == (1, True)
    assert hub.repos == {}  # all targets are checked before the first write

    HfApi().create_repo("org/tiny")
    before = hub.files(MODEL).copy()
    code, out, _ = command(*push[:-1])
    assert (code, "nothing was uploaded" in out, set(hub.repos)) == (0, True, {MODEL})
    code, out, _ = command(*push)
    # No leaderboard has abstracts.
    assert (code, f"org/tiny: no {FILE}" in out, hub.files(MODEL)) == (0, True, before)
    [stored] = tree(hub, RESULTS).values()
    assert json.loads(stored) == RESULT
    commits = [len(repo.commits) for repo in hub.repos.values()]
    code, out, _ = command(*push)
    assert (code, out.count("already has all of it")) == (0, 1)
    assert [len(repo.commits) for repo in hub.repos.values()] == commits


def test_nothing_is_published_of_the_machine(command: Command, hub: Hub, tmp_path: Path) -> None:
    content = json.loads(json.dumps(RESULT))
    content |= {
        "pretty_env_info": "Debian, 2 cores",
        "git_hash": "abc",
        "config": {"model_args": "pretrained=/home/ada/m,base_url=http://10.1.2.3:8000/v1"},
    }
    content["academiceval"]["run"]["model_args"] = {
        "base_url": "https://inner.example:8443/v1/chat?code=abcdef",
        "pretrained": "/home/ada/models/tiny",
    }
    content["academiceval"]["run"]["metadata"] = {"dataset": str(tmp_path / "ada lovelace" / "academiceval")}
    content["config"]["more"] = (
        "s3://bucket-of-us/x models/of-us/run7/m $HOME/of-us/m 10.1.2.3:8000 ./of-us/it/m".split()
    )
    (tmp_path / "results_tiny.json").write_text(json.dumps(content))
    assert command("push-results", tmp_path / "results_tiny.json", "--repo", "org/results", "--yes")[0] == 0
    texts = tree(hub, RESULTS).values()
    private_words = "Debian git_hash /home /ada 10.1.2.3 of-us lovelace inner.example 8443 abcdef"
    for private in (*private_words.split(), str(tmp_path)):
        assert not any(private in text for text in texts), private
    [stored] = texts
    assert json.loads(stored)["academiceval"]["run"]["model_args"]["pretrained"] == "tiny"
    assert json.loads(stored)["academiceval"]["scores"] == content["academiceval"]["scores"]


def test_a_score_that_its_samples_do_not_give_is_not_published(
    command: Command, hub: Hub, dataset: Path, tmp_path: Path
) -> None:
    file = run(command, dataset, tmp_path, "abs_9k") / "results_lead.json"
    content = json.loads(file.read_text())
    score = next(score for score in content["academiceval"]["scores"] if score["metric"] == "rouge_l_content")
    for edit in ({"value": 0.99, "high": 1.0}, {"samples": 2 * score["samples"]}):
        edited = json.loads(json.dumps(content))
        next(each for each in edited["academiceval"]["scores"] if each == score).update(edit)
        file.write_text(json.dumps(edited))
        code, _, err = command("push-results", tmp_path, "--repo", "org/results", "--yes")
        assert (code, "is not what the samples beside it give" in err, hub.repos) == (1, True, {})
    # Nor if only lm-eval's own part says another number.
    edited = json.loads(json.dumps(content))
    edited["results"]["academiceval_abs_9k"]["rouge_l_content,score"] += 0.3
    file.write_text(json.dumps(edited))
    code, _, err = command("push-results", tmp_path, "--repo", "org/results", "--yes")
    assert (code, "is not what the samples beside it give" in err, hub.repos) == (1, True, {})
    # The plain lm_eval writes no block, and some metrics under two names.
    del content["academiceval"]
    file.write_text(json.dumps(content))
    line = ("push-results", tmp_path, "--repo", "org/results", "--subset")
    assert command(*line)[0] == 0
    content["results"]["academiceval_abs_9k"]["rougeL,score"] = 0.99
    file.write_text(json.dumps(content))
    code, _, err = command(*line)
    assert (code, "is not what the samples beside it give" in err) == (1, True)


def test_results_of_the_plain_lm_eval(command: Command, hub: Hub, tmp_path: Path) -> None:
    metadata = {"version": 1.0, "dataset": REPO, "dataset_revision": "2026.11"}
    scores = {
        "alias": "x",
        "rouge_l,score": 0.25,
        "rouge_l_stderr,score": 0.01,
        "accuracy,score": 0.5,
        "accuracy_stderr,score": "N/A",
    }
    content = {
        "results": {
            "academiceval_abs_9k": scores,
            "academiceval_abs": {"rouge_l,score": 0.3},
            "hellaswag": {"acc,none": 1.0},
        },
        "model_name": "org/tiny",
    }
    file = tmp_path / "results_2026-11-20T10-00-00.json"
    for effective, option, says in (
        (9, {"published_after": "2026-09-01"}, "published_after=2026-09-01"),
        (9, {"shard": "1/2"}, "shard=1/2"),
        (4, {}, "academiceval_abs_9k (4 of 9)"),
    ):
        content["configs"] = {"academiceval_abs_9k": {"metadata": metadata | option}, "hellaswag": {}}
        content["n-samples"] = {"academiceval_abs_9k": {"original": 9, "effective": effective}}
        file.write_text(json.dumps(content))
        code, _, err = command("push-results", "--yes", file, "--repo", "org/results")
        assert (code, f"covers only a part of the samples ({says})" in err) == (1, True), err
    assert command("push-results", "--yes", "--subset", file, "--repo", "org/results")[0] == 0
    [(name, stored)] = tree(hub, RESULTS).items()
    assert re.fullmatch(r"org-tiny/2026\.11/results_2026-11-20T10-00-00-[0-9a-f]{8}\.json", name)
    assert json.loads(stored) == content
    del content["results"]["academiceval_abs_9k"]
    file.write_text(json.dumps(content))
    code, _, err = command("push-results", "--yes", file, "--repo", "org/results")
    assert (code, "is not a result of our tasks" in err) == (1, True)


def test_results_that_are_none(command: Command, hub: Hub, tmp_path: Path) -> None:
    other = tmp_path / "results_x.json"
    other.write_text("{}")
    for argument, says in (
        (other, "is not a result of"),
        (tmp_path / "empty", "is not a result"),
        (tmp_path, "is not a result"),
    ):
        code, _, err = command("push-results", "--yes", argument, "--repo", "org/results")
        assert code == 1, says
        assert str(argument) in err
    with pytest.raises(SystemExit, match="1"):
        command("push-results", "--yes", other, "--repo", "results")


def test_scores_go_onto_the_card_of_the_model_that_answered(command: Command, hub: Hub, tmp_path: Path) -> None:
    HfApi().create_repo("org/Tiny")
    HfApi().create_repo("org/other")
    results = json.loads(json.dumps(RESULT))
    for name, card, code, says in (
        ("lab/tiny", "org/Tiny", 0, "nothing was uploaded"),
        ("lab/tiny", "org/other", 1, "has the results of lab/tiny, and --card names org/other"),
        ("", "org/other", 0, "the results are of 'tiny'; make sure that this is the same model"),
    ):
        results["academiceval"]["run"]["model_args"] = {"pretrained": name} if name else {}
        (tmp_path / "results_x.json").write_text(json.dumps(results))
        found, out, err = command("push-results", tmp_path / "results_x.json", "--repo", "org/results", "--card", card)
        assert (found, says in out + err) == (code, True), out + err


def test_a_dry_run_for_a_card_needs_no_hub(
    command: Command, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results_tiny.json").write_text(json.dumps(RESULT))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    push = ("push-results", tmp_path / "results_tiny.json", *PUSH)
    code, out, err = command(*push[:-1])
    assert (code, "it is not known what would stand on the card" in out, hub.repos) == (0, True, {}), err
    assert command(*push)[0] == 1


def test_two_runs_of_one_model_lie_side_by_side(command: Command, hub: Hub, tmp_path: Path) -> None:
    for name, value in (("one", 0.25), ("two", 0.26)):
        (tmp_path / name).mkdir()
        content = json.loads(json.dumps(RESULT).replace("0.25", str(value)))
        (tmp_path / name / "results_tiny.json").write_text(json.dumps(content))
        assert command("push-results", "--yes", tmp_path / name, "--repo", "org/results")[0] == 0
    assert len(tree(hub, RESULTS)) == 2
    assert command("push-results", "--yes", tmp_path / "one", tmp_path / "two", "--repo", "org/results")[0] == 0
    assert len(tree(hub, RESULTS)) == 2


SECRET = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("ours", "other", "says"),
    [
        ('"dataset": "academiceval"', '"config": "Abs-Own"', "config=Abs-Own"),
        ('"model": "tiny"', '"model": "../../escaped"', "are not names of a model and a round"),
        ('"model": "tiny"', '"model": ".."', "are not names of a model and a round"),
        ('"model": "tiny"', '"model": "a/b"', "are not names of a model and a round"),
        ('"model": "tiny"', f'"model": "{"x" * 200}y"', "are not names of a model and a round"),
        ('"value": 0.25', '"value": 1e300', "scores[0].value: expected"),
        ('"low": 0.2', '"low": 1e300', "scores[0].low: expected"),
        ('"samples": 4', '"samples": 1e300', "scores[0].samples: expected"),
    ],
)
def test_results_of_another_setting_or_with_names_and_numbers_that_cannot_be(
    ours: str, other: str, says: str, command: Command, hub: Hub, tmp_path: Path
) -> None:
    text = json.dumps(RESULT)
    assert ours in text
    (tmp_path / "results_x.json").write_text(text.replace(ours, other))
    code, _, err = command("push-results", "--yes", tmp_path / "results_x.json", "--repo", "org/results")
    assert (code, says in err, hub.repos) == (1, True, {}), err


def test_results_with_a_key_are_not_uploaded(command: Command, hub: Hub, tmp_path: Path) -> None:
    content = {**json.loads(json.dumps(RESULT)), "config": {"model_args": f"model=m,api_key={SECRET}"}}
    text = json.dumps(content)
    escaped = text.replace("api_key", "api\\u005fkey").replace("hf_", "hf\\u005f")
    of_key = r"results_x-[0-9a-f]{8}\.json contains a value of 'api_key'"
    for given, encoding, says in (
        (text, "utf-8", of_key),
        (escaped, "utf-8", of_key),
        (text, "utf-16", "is not a result of"),
    ):
        (tmp_path / "results_x.json").write_text(given, encoding=encoding)
        code, _, err = command("push-results", "--yes", tmp_path / "results_x.json", "--repo", "org/results")
        assert (code, SECRET in err) == (1, False)
        assert re.search(says, err), err
    assert not hub.repos


# --- leaderboards


@pytest.fixture
def published(states: dict[str, Any], command: Command, hub: Hub, cloze_rounds: tuple[Path, Path]) -> tuple[Path, Path]:
    """Two rounds and a model repository on the Hub; the rounds' folders."""
    if "results" not in states:
        for folder in cloze_rounds:
            assert command("push", folder, "--repo", REPO, "--yes", "--licenses", "all")[0] == 0
        HfApi().create_repo("org/tiny")
        states["results"] = hub.save()
    hub.load(states["results"])
    return cloze_rounds


@pytest.fixture
def easy(
    states: dict[str, Any], command: Command, published: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A baseline's run of SCALAR-Easy over the first round; only to be read."""
    if "easy" not in states:
        states["easy"] = run(command, published[0], tmp_path_factory.mktemp("easy"), "scalar_easy")
    return Path(states["easy"])


def run(command: Command, dataset: object, output: Path, *tasks: str, **options: object) -> Path:
    """The output folder of a baseline."""
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none", **options})
    names = ",".join(task if task.startswith("scalar") else f"academiceval_{task}" for task in tasks)
    code, _, err = command("eval", "--model", "lead", "--tasks", names, "--metadata", metadata, "--output", output)
    assert code == 0, err
    return output


def push(command: Command, run_: Path, *more: str) -> str:
    """What push-results prints."""
    code, out, err = command("push-results", run_, *PUSH, *more)
    assert code == 0, err
    return out


def board(hub: Hub) -> dict[str, EvalResultEntry]:
    """Task -> the model's entry, as a reader of the leaderboards sees it."""
    content = yaml.safe_load(tree(hub, MODEL)[FILE])
    entries = parse_eval_result_entries(content)
    assert eval_result_entries_to_yaml(entries) == content  # nothing that the Hub does not know
    found = {entry.task_id: entry for entry in entries}
    assert len(found) == len(entries)
    return found


def entry(task: str, source: str = SOURCE) -> dict[str, Any]:
    """A score of the model that somebody has published before."""
    made = EvalResultEntry(REPO, task, 0.5, source_url="https://example.org", source_name=source)
    return eval_result_entries_to_yaml([made])[0]


def test_a_leaderboard_keeps_what_other_runs_and_months_have_brought(
    published: tuple[Path, Path], easy: Path, command: Command, hub: Hub, tmp_path: Path
) -> None:
    place = ("--dataset", REPO)
    theirs = {
        "README.md": b"---\r\nlicense: no # Norwegian\r\nmodel-index:\r\n- {name: tiny, results: []}\r\n---\r\n# Tiny",
        ".eval_results/others.yaml": b"- dataset: {id: a/b, task_id: t}  # exact\n  value: 1.10\n",
        "model.safetensors": bytes(range(256)),
    }
    for path, data in theirs.items():
        HfApi().upload_file(path_or_fileobj=data, path_in_repo=path, repo_id="org/tiny")
    before = hub.files(MODEL).copy()
    push(command, easy, *place)
    push(command, run(command, REPO, tmp_path / "medium", "scalar_medium", dataset_revision="2026.11"))
    # Both tasks at once, with the mean over a paper's tasks, which no leaderboard has.
    push(
        command,
        run(command, published[1], tmp_path / "later", "scalar_easy", "scalar_medium", "abs_9k", "intro_28k_g"),
        *place,
    )
    entries = board(hub)
    assert set(entries) == {
        f"{task}_accuracy_{round_}" for task in ("scalar_easy", "scalar_medium") for round_ in ("2026_11", "2026_12")
    }
    files = tree(hub, RESULTS)
    # Nothing else of the repository is touched.
    assert {path: blob for path, blob in hub.files(MODEL).items() if path != FILE} == before
    for task, one in entries.items():
        revision = hub.repos[f"datasets/{REPO}"].tags["2026.11" if task.endswith("11") else "2026.12"]
        assert (one.dataset_id, one.dataset_revision) == (REPO, revision)
        assert task in {
            listed["id"] for listed in yaml.safe_load(tree(hub, f"datasets/{REPO}", revision)["eval.yaml"])["tasks"]
        }
        address, path = str(one.source_url).split("/blob/main/")
        scores = json.loads(files[path])["academiceval"]["scores"]
        assert (address, one.source_name) == (f"{hub.url}/datasets/org/results", "AcademicEval")
        assert any(
            score["metric"] == "accuracy" and score["value"] == pytest.approx(one.value, abs=1e-6) for score in scores
        )
        assert re.fullmatch(r"\d+ samples.*", str(one.notes))
    # Beside each result lie the scores of its samples, from which its means can be computed.
    for path in [path for path in files if path.endswith(".scores.jsonl")]:
        scores = json.loads(files[path.replace(".scores.jsonl", ".json")])["academiceval"]["scores"]
        lines = [json.loads(line) for line in files[path].splitlines()]
        for score in scores:
            own = [
                line["scores"][score["metric"]]
                for line in lines
                if line["task"] == score["task"] and score["metric"] in line["scores"]
            ]
            assert not own or score["value"] == pytest.approx(sum(own) / len(own))
        assert lines
        assert not any("constant" in name or "bm25" in name for line in lines for name in line["scores"])
    # Once more, nothing changes.
    assert "already has all of it" in push(command, easy, *place)
    assert board(hub) == entries


def test_scores_of_somebody_elses_model_are_proposed(easy: Path, command: Command, hub: Hub) -> None:
    hub.repos["models/other/tiny"] = hub.repos.pop(MODEL)
    line = ("push-results", easy, "--repo", "org/results", "--card", "other/tiny", "--dataset", REPO, "--yes")
    code, _, errors = command(*line)
    assert (code, "does not belong to other" in errors) == (1, True)
    for _ in range(2):
        code, out, errors = command(*line, "--create-pr")
        assert code == 0, errors
        assert f"pull request: {hub.url}/other/tiny/discussions/1" in out
    assert hub.repos["models/other/tiny"].proposed == [{FILE}]
    assert FILE not in hub.files("models/other/tiny")


@pytest.mark.long
def test_what_is_on_no_leaderboard_says_so(
    published: tuple[Path, Path], easy: Path, command: Command, hub: Hub, tmp_path: Path
) -> None:
    says, place = f"org/tiny: no {FILE}: it is for whole runs of tasks", ("--dataset", REPO)
    assert says in push(command, easy)
    # Inspect cannot run it from the dataset's columns.
    assert says in push(command, run(command, published[0], tmp_path / "abs", "abs_9k"), *place)
    found = shutil.copytree(easy, tmp_path / "run")
    file = found / "results_lead.json"
    content = json.loads(file.read_text())
    for options, more in (
        ({"context": "local"}, ()),
        ({"published_after": "2000-01-01"}, ("--subset",)),
    ):
        changed = json.loads(json.dumps(content))
        changed["academiceval"]["run"]["metadata"] |= options
        file.write_text(json.dumps(changed))
        assert says in push(command, found, *place, *more), options
    code, _, err = command(
        *"eval --model lead --tasks scalar_easy --limit 2 --output".split(),
        tmp_path / "part",
        "--metadata",
        json.dumps({"dataset": str(published[0]), "bertscore_model": "none"}),
    )
    assert code == 0, err
    assert f"no {FILE}" in push(command, tmp_path / "part", "--dataset", REPO, "--subset")
    assert FILE not in tree(hub, MODEL)


def test_the_folder_that_was_run_is_the_one_that_is_published(
    published: tuple[Path, Path], easy: Path, command: Command, hub: Hub, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(published[0], other)
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["configurations"][0]["splits"]["test"]["statistics"]["input_tokens"] += 1
    (other / "manifest.json").write_text(json.dumps(manifest))
    hub.repos["datasets/org/empty"] = Repository()
    hub.repos["datasets/org/empty"].add("main", "", "", {})
    found = shutil.copytree(easy, tmp_path / "run")
    text = (found / "results_lead.json").read_text()
    lost = text.replace(str(published[0]), str(tmp_path))
    changed = (run(command, other, tmp_path / "run2", "scalar_easy") / "results_lead.json").read_text()
    for content, dataset, says in (
        (text, "org/nothing", "org/nothing does not exist"),
        (text, "org/empty", "org/empty has no revision 2026.11, the round of these"),
        (lost, REPO, "is missing or has changed since the run"),
        (changed, REPO, f"differs from 2026.11 of {REPO}"),
        (text.replace('"2026.11"', '"2026.12"'), REPO, "but the samples beside it have"),
    ):
        run_ = tmp_path / ("run2" if content == changed else "run")
        (run_ / "results_lead.json").write_text(content)
        code, _, err = command("push-results", run_, *PUSH, "--dataset", dataset)
        assert (code, says in err) == (1, True), (says, err)
    assert RESULTS not in hub.repos


def test_a_replaced_round_is_on_no_leaderboard(
    published: tuple[Path, Path], command: Command, hub: Hub, tmp_path: Path
) -> None:
    """A folder's run counts for the revision that has what is in the folder, whatever that is called."""
    corrected = shutil.copytree(published[1], tmp_path / "corrected")
    manifest = read_manifest(corrected)
    shutil.rmtree(corrected / "Intro-28K-G")
    kept = tuple(one for one in manifest.configurations if one.name != "Intro-28K-G")
    finish(corrected, replace(manifest, configurations=kept, core=()))
    runs = [
        run(command, folder, tmp_path / str(i), "scalar_easy") for i, folder in enumerate((published[1], corrected))
    ]
    of_hub = run(command, REPO, tmp_path / "hub", "scalar_easy", dataset_revision="2026.12")
    line = ("push", corrected, "--repo", REPO, "--licenses", "all", "--yes")
    assert command(*line, "--replaces", "2026.12", "--note", "wrong")[0] == 0
    for wrong, says in ((runs[0], f"differs from 2026.12.post1 of {REPO}"), (of_hub, "2026.12.post1: evaluate that")):
        code, _, err = command("push-results", wrong, *PUSH, "--dataset", REPO)
        assert (code, says in err) == (1, True), err
    code, _, err = command("push-results", runs[1], *PUSH, "--dataset", REPO)
    assert (code, err) == (0, "")
    [entry] = yaml.safe_load(hub.files(MODEL)[FILE].data)
    assert entry["dataset"]["revision"] == hub.repos[f"datasets/{REPO}"].tags["2026.12.post1"]


@pytest.mark.long
def test_options_among_the_models_arguments_count_too(
    published: tuple[Path, Path], command: Command, hub: Hub, tmp_path: Path
) -> None:
    line = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--model_args", "split=validation")
    metadata = json.dumps({"dataset": str(published[0]), "bertscore_model": "none"})
    assert command(*line, "--metadata", metadata, "--output", tmp_path / "run")[0] == 0
    code, _, err = command("push-results", tmp_path / "run", "--repo", "org/results")
    assert (code, "is about the split 'validation'" in err) == (1, True), err


def test_the_plain_lm_evals_run_over_a_part_is_on_no_leaderboard(
    published: tuple[Path, Path], command: Command, hub: Hub, tmp_path: Path
) -> None:
    """It does not know of rows that are listed by id only."""
    of = (
        next(one for one in read_manifest(published[0]).configurations if one.name == "SCALAR-Easy")
        .statistics("test")
        .samples
    )
    for samples, is_shown in ((of, True), (of - 1, False)):
        content = {
            "results": {"scalar_easy": {"accuracy,score": 0.25}},
            "model_name": "org/tiny",
            "date": 1.7e9,
            "configs": {"scalar_easy": {"metadata": {"dataset": REPO, "dataset_revision": "2026.11"}}},
            "n-samples": {"scalar_easy": {"original": samples, "effective": samples}},
        }
        (tmp_path / "results_x.json").write_text(json.dumps(content))
        out = push(command, tmp_path / "results_x.json")
        assert (f"no {FILE}" not in out) == is_shown


@pytest.mark.long
def test_what_the_hub_does_not_say_is_not_taken_for_absent(easy: Path, command: Command, hub: Hub) -> None:
    ours = yaml.safe_dump([entry("scalar_easy_accuracy_2026_10")]).encode()
    HfApi().upload_file(path_or_fileobj=ours, path_in_repo=FILE, repo_id="org/tiny")
    before = tree(hub, MODEL)
    for status in (400, 403, 409, 429, 503):
        for name in (FILE, "errata.jsonl", "manifest.json", "eval.yaml"):
            hub.fault = lambda number, method, path, name=name, status=status: (  # type: ignore[misc]
                Fault(status) if method == "HEAD" and path.endswith(name) else None
            )
            code, _, err = command("push-results", easy, *PUSH, "--dataset", REPO)
            assert code == 1, (status, name)
            assert "Traceback" not in err
    assert tree(hub, MODEL) == before
    assert RESULTS not in hub.repos
    hub.fault = lambda number, method, path: None
    push(command, easy, "--dataset", REPO)
    assert set(board(hub)) == {"scalar_easy_accuracy_2026_10", "scalar_easy_accuracy_2026_11"}


def test_what_somebody_else_pushes_meanwhile_stays(easy: Path, command: Command, hub: Hub) -> None:
    theirs = yaml.safe_dump([entry("scalar_hard_accuracy_2026_11")])

    def meanwhile(number: int, method: str, path: str) -> None:
        if path.startswith("/api/datasets/org/results/commit") and FILE not in hub.files(MODEL):
            files = {**hub.files(MODEL), FILE: Blob(theirs.encode(), False)}
            hub.repos[MODEL].add("main", "theirs", "", files)

    hub.fault = meanwhile
    line = ("push-results", easy, *PUSH, "--dataset", REPO)
    code, _, err = command(*line)
    assert (code, "try again" in err) == (1, True), err
    assert tree(hub, MODEL)[FILE] == theirs
    assert command(*line)[0] == 0
    assert set(board(hub)) == {"scalar_hard_accuracy_2026_11", "scalar_easy_accuracy_2026_11"}


def test_a_file_that_is_not_ours_is_not_replaced(easy: Path, command: Command, hub: Hub) -> None:
    line = ("push-results", easy, *PUSH, "--dataset", REPO)
    by_hand = "it has entries that others wrote"
    for text, says in (
        (yaml.safe_dump([entry("scalar_easy_accuracy_2026_11", "A lab")]), by_hand),
        (yaml.safe_dump([entry("scalar_hard_accuracy_2026_11"), {"dataset": {"id": "a/b"}, "value": 1}]), by_hand),
        ("a: 1", by_hand),
        ("- x", by_hand),
        ("[", ""),
        ("!!bool foo", ""),
        ("- a: &a [x]\n  b: *a", ""),
        ("[" * 3000, ""),
        ("\udcff", ""),
    ):
        data = text.encode(errors="surrogateescape")
        HfApi().upload_file(path_or_fileobj=data, path_in_repo=FILE, repo_id="org/tiny")
        code, _, err = command(*line)
        assert (code, f"{FILE} of org/tiny cannot be used: {says}" in err, err.count("\n")) == (1, True, 1), err
        assert hub.files(MODEL)[FILE].data == data
    assert RESULTS not in hub.repos
