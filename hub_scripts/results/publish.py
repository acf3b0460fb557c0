"""`academiceval push-results`: scores -> a dataset repository of results, and the model index that model cards show.

A result file is uploaded as lm-eval wrote it, at `<model>/<rounds>/<file>`; next to it lies its model index
(https://huggingface.co/docs/hub/model-cards#evaluation-results).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult, RepoCard

from builder.dataset.card import CARD
from builder.round import levels
from builder.round import settings as registry
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import RESULTS, result, results_yaml, task_id
from hub_scripts.hub.compat import endpoint, model_index
from hub_scripts.hub.file_hashes import Content, digest, unchanged
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.secret_scan import refuse_secrets
from hub_scripts.results.result_file import Results, TaskScore, read_results
from lm_eval_tasks.files import sha256_of_bytes
from lm_eval_tasks.metrics import registry as metrics

_INDEX = "model-index.yml"
# A leaderboard shows one score per task.
_BENCHMARK = ("rouge_l", "accuracy")
_TITLE = {"dataset": "Results", "model": "Evaluation results"}


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One result file.

    Attributes:
        folder: where it goes below the repository.
        index: its scores as a model index's list.
        subsets: tasks of which only a part was run.
        benchmark: its headline scores as the Hub's benchmarks want them; none if the dataset is not on the Hub.
    """

    path: Path
    model: str
    folder: str
    index: list[dict[str, Any]]
    subsets: tuple[str, ...]
    benchmark: list[dict[str, Any]]


def push_results(
    paths: Sequence[Path], repo_id: str, card: str | None, *, yes: bool, subset: bool = False, create_pr: bool = False
) -> Iterator[str]:
    """Publish result files; yields lines to show.

    Args:
        paths: `results_*.json`, or folders of them.
        card: a model on the Hub whose card should show the scores too.
        subset: publish runs over a part of the samples too, and say so.
        create_pr: propose the card's change in a pull request, which needs no permission to write there.

    Raises:
        SecretError: a file contains one.
        HubError: no result file, a file of another kind, two of the same path, no permission, or the Hub does not answer.
    """
    repo = Repo(repo_id)
    found = [read_result(path, repo_id) for path in result_files(paths)]
    if card and len(names := sorted({one.model for one in found})) > 1:
        raise HubError(f"--card {card} is for one model, but the files are of {', '.join(names)}; push them one by one")
    for one in found:
        if one.subsets and not subset:
            raise HubError(
                f"{one.path} covers only a part of the samples ({', '.join(one.subsets)}); its scores are not those of the round: run "
                "all samples, or publish them as a subset's with --subset"
            )
    files = _files(found)
    refuse_secrets(files)
    yield from (f"{repo_id}: {path}" for path in files)
    if card:
        yield f"{card}: {CARD} and {RESULTS}, {'as a pull request' if create_pr else 'in place of older scores of the same tasks'}"
    if not yes:
        yield "nothing was uploaded; add --yes to publish"
        return
    repo.check_write()
    of_model = _of_card(card, found, create_pr=create_pr) if card else {}
    repo.create(private=False)
    yield _upload(repo, files)
    if card:
        yield _upload(Repo(card, "model"), of_model, create_pr=create_pr)


def _of_card(card: str, found: Sequence[ResultFile], *, create_pr: bool) -> dict[str, Content]:
    """What goes to the model's repository.

    Raises:
        HubError: there is none, its card cannot be read, or the token may not write to it.
    """
    model = Repo(card, "model")
    if not create_pr:
        model.check_write()
    head = model.existing_refs().branches[MAIN]
    text = (model.read(CARD, head) or b"").decode()
    index = [entry for one in found for entry in one.index]
    files: dict[str, Content] = {CARD: with_index(text, card.split("/")[1], index).encode()}
    if benchmark := [entry for one in found for entry in one.benchmark]:
        files[RESULTS] = results_yaml(benchmark).encode()
    return files


def _files(found: Sequence[ResultFile]) -> dict[str, Content]:
    """Path in the repository -> content.

    Raises:
        HubError: two files would get the same path.
    """
    files: dict[str, Content] = {}
    sources: dict[str, Path] = {}
    for one in found:
        path = f"{one.folder}/{one.path.name}"
        if path in sources:
            raise HubError(
                f"{sources[path]} and {one.path} would both become {path}; rename one, or push them one by one"
            )
        sources[path] = one.path
        files[path] = one.path
        files[f"{one.folder}/{one.path.stem}.{_INDEX}"] = index_text(one.index)
    return files


def result_files(paths: Sequence[Path]) -> list[Path]:
    """The result files among paths and below folders.

    Raises:
        HubError: there are none.
    """
    files = [file for path in paths for file in (sorted(path.rglob("results_*.json")) if path.is_dir() else [path])]
    if not files:
        raise HubError(
            f"{', '.join(map(str, paths))} contains no results_*.json; `academiceval eval` and lm_eval write them"
        )
    return files


def read_result(path: Path, repo_id: str) -> ResultFile:
    """Read one result file.

    Raises:
        HubError: it is not a result file.
    """
    results = read_results(path)
    folder = f"{results.model}/{results.round}"
    is_hub_id = results.dataset.count("/") == 1 and not Path(results.dataset).exists()
    shown = [
        EvalResult(
            task_type="text-generation", task_name=one.task, dataset_type=results.dataset if is_hub_id else "academiceval",
            dataset_name=f"AcademicEval {results.round}{', subset' * bool(results.subsets)}",
            dataset_config=_setting(one.task), dataset_split="test",
            dataset_revision=results.round, metric_type=one.metric, metric_name=metrics.label(one.metric),
            metric_value=round(one.value, 6), metric_args=_beside(one, results), source_name="AcademicEval",
            source_url=f"{endpoint()}/datasets/{repo_id}/blob/main/{folder}/{path.name}",
        )
        for one in results.scores
        if one.metric in metrics.headline()  # all other scores are in the result file
    ]  # fmt: skip
    address = f"{endpoint()}/datasets/{repo_id}/blob/main/{folder}/{path.name}"
    benchmark = [
        result(
            results.dataset, task_id(_setting(one.task), results.round, one.metric), results.revision, one.value, results.day, address,
            _notes(one, results),
        )
        for one in results.scores
        if one.metric in _BENCHMARK and is_hub_id
    ]  # fmt: skip
    return ResultFile(path, results.model, folder, model_index(results.model, shown), results.subsets, benchmark)


def _notes(score: TaskScore, results: Results) -> str:
    """What a reader of a leaderboard must know about a score."""
    interval = "" if score.low is None or score.high is None else f", 95 % interval {score.low:.4f} to {score.high:.4f}"
    subset = ", a subset of the samples" if any(one.startswith(f"{score.task} ") for one in results.subsets) else ""
    return f"{score.samples} samples{interval}{subset}"


def _beside(score: TaskScore, results: Results) -> dict[str, Any]:
    """What a reader must know about a score besides its value."""
    facts: dict[str, Any] = {"samples": score.samples}
    if score.low is not None and score.high is not None:
        facts |= {"low": round(score.low, 6), "high": round(score.high, 6)}
    return facts | ({"prompt_versions": list(results.prompt_versions)} if results.prompt_versions else {})


def index_text(entries: list[dict[str, Any]]) -> bytes:
    """The front matter of a model card with these entries, for pasting."""
    return yaml.safe_dump({"model-index": [{"results": entries}]}, sort_keys=False, allow_unicode=True).encode()


def with_index(text: str, name: str, entries: list[dict[str, Any]]) -> str:
    """A model card that shows the entries; older ones of the same dataset, configuration and revision are replaced."""
    try:
        return _with_index(text, name, entries)
    except (ValueError, TypeError, AttributeError, yaml.YAMLError) as err:
        reason = str(err).partition("\n")[0]
        raise HubError(f"the front matter of the card of {name} cannot be read ({reason}); repair it first") from err


def _with_index(text: str, name: str, entries: list[dict[str, Any]]) -> str:
    card = RepoCard(text)
    kept = [old for index in card.data.get("model-index") or () for old in index.get("results", [])]
    fresh = {_identity(entry) for entry in entries}
    results = [*(old for old in kept if _identity(old) not in fresh), *entries]
    card.data["model-index"] = [{"name": name, "results": results}]
    return str(card)


def _identity(entry: dict[str, Any]) -> tuple[str, ...]:
    dataset = entry.get("dataset", {})
    task = entry.get("task", {}).get("name")
    return (str(task), *(str(dataset.get(name)) for name in ("type", "config", "revision")))


def _setting(task: str) -> str:
    """The dataset's configuration that a task of lm-eval reads; the task's own name if it is not for a single one."""
    names = {f"academiceval_{one.name.lower().replace('-', '_')}": one.name for one in registry.BUILT_IN}
    names |= {level.name.lower().replace("-", "_"): level.name for level in levels.BUILT_IN}
    return names.get(task, task)


def _upload(repo: Repo, files: dict[str, Content], *, create_pr: bool = False) -> str:
    """Commit, or propose, what is not there yet, once."""
    head = repo.existing_refs().branches[MAIN]
    same = set(unchanged(repo.files(head), files))
    fresh = {path: content for path, content in files.items() if path not in same}
    if not fresh:
        return f"{repo.id} already has all of it"
    listed = "\n".join(f"{path} {digest(content)['sha256']}" for path, content in sorted(fresh.items()))
    mark = f"Files: {sha256_of_bytes(listed)}"
    if create_pr:
        change = Change(f"{_TITLE[repo.kind]} of AcademicEval ({sha256_of_bytes(listed)[:12]})", mark, fresh)
        return f"pull request: {repo.proposed(change) or repo.propose(change, head)}"
    return f"published: {repo.id}, commit {repo.commit(Change(_TITLE[repo.kind], mark, fresh), MAIN, head)}"
