"""`academiceval push-results`: scores -> a dataset repository of results, and the leaderboards of the Hub.

A result file is uploaded without what it says of the machine, to `<model>/<rounds>/`, with a part of its hash in its name; next to it lie
the scores of its samples.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hub_scripts.errors import HubError, UnreachableError
from hub_scripts.hub.faults import endpoint
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.uploads import Content, digest, refuse_secrets, unchanged_paths
from hub_scripts.results.leaderboard import FILE, OF_A_PART, entries, merge_entries, published_round
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.families.registry import find_metric, headline
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import FOLDER_NAME, Results, figures_of, read_results
from lm_eval_tasks.samples.run_folder import results_in, samples_beside, samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats.scores import scores_of

_TITLE = {"dataset": "Results", "model": "Evaluation results"}


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One result file.

    Attributes:
        place: where it goes in the repository, without its ending; named by its content, so that no run replaces another's.
        address: of the file there.
    """

    path: Path
    results: Results
    place: str
    address: str

    @property
    def files(self) -> dict[str, Content]:
        """Path in the repository of results -> content."""
        files: dict[str, Content] = {f"{self.place}.json": cleaned(self.path)}
        return files | ({f"{self.place}.scores.jsonl": lines} if (lines := score_lines(self.results)) else {})


def push_results(
    paths: Sequence[Path],
    repo_id: str,
    card: str | None,
    *,
    yes: bool,
    subset: bool = False,
    create_pr: bool = False,
    dataset: str | None = None,
) -> Iterator[str]:
    """Publish result files; yields lines to show.

    Args:
        paths: `results_*.json`, or folders of them.
        card: a model on the Hub whose repository should have the scores of SCALAR too.
        subset: publish runs over a part of the samples too.
        create_pr: propose that in a pull request, which needs no permission to write there.
        dataset: the repository in which the folder that was run is published.

    Raises:
        HubError: a file contains a secret, no result file, a file of another kind, no permission, a dataset that is not published, or the
            Hub does not answer.
    """
    if not card and (create_pr or dataset):
        raise HubError("--create-pr and --dataset are about a model's repository: name it with --card")
    # Of two runs of a task the newer counts.
    results = sorted(
        (_read_result(path, repo_id) for path in _result_files(paths)), key=lambda file: file.results.seconds
    )
    _check(results, card, subset=subset)
    files = {path: content for file in results for path, content in file.files.items()}
    refuse_secrets(files)
    yield from (f"{repo_id}: {path}" for path in files)
    of_model: dict[str, Content] = {}
    if card:
        model = Repo(card, "model")
        try:
            model_head = Repo(card, "model", patient=yes).head()
            of_model = _model_files(model, model_head, results, dataset)
        except UnreachableError as err:
            if yes:
                raise
            yield f"{err}: so it is not known what would stand on the card; nothing was uploaded; add --yes to publish"
            return
        ran = results[0].results.hub_model or results[0].results.model
        if ran.casefold() not in (card.casefold(), _name(card)):
            yield f"{card}: the results are of {ran!r}; make sure that this is the same model"
        yield from (f"{card}: {path}{' in a pull request' * create_pr}" for path in of_model)
        if not of_model:
            yield (
                f"{card}: no {FILE}: it is for whole runs of tasks in the eval.yaml of a dataset on the Hub; if a folder was run, name the "
                "repository that it is published in with --dataset"
            )
    if not yes:
        yield "nothing was uploaded; add --yes to publish"
        return
    repo = Repo(repo_id)
    repo.check_write()
    if of_model and not create_pr:
        model.check_write()
    repo.create(private=False)
    yield _upload(repo, repo.head(), files)
    if of_model:
        yield _upload(model, model_head, of_model, create_pr=create_pr)


def _check(results: Sequence[ResultFile], card: str | None, *, subset: bool) -> None:
    names = sorted({file.results.model for file in results})
    if card and len(names) > 1:
        raise HubError(f"--card {card} is for one model, but the files are of {', '.join(names)}; push them one by one")
    for file in results if card else ():
        name = file.results.hub_model
        if name and _name(name) != _name(card or ""):
            raise HubError(
                f"{file.path} has the results of {name}, and --card names {card}: scores go onto the card of the model that answered"
            )
    if subset:
        return
    for file in results:
        run = file.results
        options = [f"{name}={run.options[name]}" for name in OF_A_PART if run.options.get(name)]
        parts = [f"{task} ({run.subset_of(task)})" for task in run.subsets] or options
        if parts:
            raise HubError(
                f"{file.path} covers only a part of the samples ({', '.join(parts)}); its scores are not those of the "
                "round: run all samples, or publish them as a subset's with --subset"
            )
        if run.split != TEST:
            raise HubError(
                f"{file.path} is about the split {run.split!r}, and a round's scores are those of its test papers: leave it out, "
                "or publish it as a subset's with --subset"
            )


def _name(model: str) -> str:
    """A model's name on the Hub without its organisation, which may have changed."""
    return model.rstrip("/").rpartition("/")[2].casefold()


def _model_files(model: Repo, head: str, results: Sequence[ResultFile], dataset: str | None) -> dict[str, Content]:
    """What goes to the model's repository: a file of our own, in which scores take the place of older ones of the same tasks."""
    fresh = [
        entry
        for file in results
        if (published := published_round(file.results, dataset))
        for entry in entries(file.results, published, file.address)
    ]
    return {FILE: merge_entries(model.read(FILE, head), fresh, model.id)} if fresh else {}


def _result_files(paths: Sequence[Path]) -> list[Path]:
    files = [file for path in paths for file in (results_in(path, deep=True) if path.is_dir() else [path])]
    if not files:
        raise HubError(
            f"{', '.join(map(str, paths))} contains no results_*.json; `academiceval eval` and lm_eval write them"
        )
    return files


def _read_result(path: Path, repo_id: str) -> ResultFile:
    results = checked_results(path)
    name = re.sub(r"[^\w.-]+", "-", path.stem)[:120]
    place = f"{results.model}/{results.round}/{name}-{sha256_of(path)[:8]}"
    return ResultFile(path, results, place, f"{endpoint()}/datasets/{repo_id}/blob/main/{place}.json")


def score_lines(results: Results) -> bytes:
    """JSON lines with the headline scores of each sample, from which anybody can compute means, intervals and paired differences; empty if
    the samples do not lie beside the results, a SamplesError if others do. Floors stay out: those of a question tell of its answer.
    """
    if not samples_beside(results.path):
        return b""
    numbers: dict[str, int] = {}
    lines = []
    for task, file in sorted(samples_of(results).items()):
        for sample in read_file(file):
            scores = {name: sample.scores[name] for name in headline() if name in sample.scores}
            cluster = numbers.setdefault(sample.cluster, len(numbers))
            lines.append({"task": task, "id": sample.id, "cluster": cluster, "scores": scores})
    return "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines).encode()


def _upload(repo: Repo, head: str, files: Mapping[str, Content], *, create_pr: bool = False) -> str:
    """Commit, or propose, what is not there yet, once; what has been added since the head is not overwritten."""
    same = unchanged_paths(repo.files(head), files)
    fresh = {path: content for path, content in files.items() if path not in same}
    if not fresh:
        return f"{repo.id} already has all of it"
    listed = "\n".join(f"{path} {digest(content)['sha256']}" for path, content in sorted(fresh.items()))
    mark = f"Files: {sha256_of_bytes(listed)}"
    if create_pr:
        change = Change(f"{_TITLE[repo.kind]} of AcademicEval ({sha256_of_bytes(listed)[:12]})", mark, fresh)
        return f"pull request: {repo.proposal_address(change) or repo.propose(change, head)}"
    return f"published: {repo.id}, commit {repo.commit(Change(_TITLE[repo.kind], mark, fresh), MAIN, head)}"


# --- a file of results that may be shown to others: its scores can be, and nothing is told of the machine

_ROUNDING = 1e-6


def checked_results(path: Path) -> Results:
    """Read a file of results; a HubError if it is not one, has no score of our tasks, one that cannot be or that its samples do not give,
    or names that are no folders.
    """
    try:
        results = read_results(path)
        samples = {task: list(read_file(file)) for task, file in samples_of(results).items()}
        # lm-eval has some metrics under two names.
        again = {
            (score.task, name): score
            for score in scores_of(samples, results.model)
            for name in (score.metric, getattr(find_metric(score.metric), "usual", ""))
        }
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(FOLDER_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    if wrong := next((score for score in results.scores if not _can_be(score)), None):
        raise HubError(
            f"{path}: {wrong.task}, {wrong.metric}: {wrong.value} ({wrong.low} to {wrong.high}) over {wrong.samples} samples cannot be"
        )
    # A file of ours says each number in lm-eval's part, too.
    stated = {
        (task, metric): value
        for task, table in results.table("results").items()
        if isinstance(table, Mapping)
        for metric, value in figures_of(table)
    }
    if edited := next((score for score in results.scores if _differs(score, again, stated)), None):
        raise HubError(
            f"{path}: {edited.task}, {edited.metric}: {edited.value} over {edited.samples} is not what the samples beside it give; run "
            "`academiceval eval` again into this folder, which asks nothing twice"
        )
    return results


def _differs(score: Score, again: Mapping[tuple[str, str], Score], stated: Mapping[tuple[str, str], float]) -> bool:
    """Whether the samples, where there are any, give another score, or are not as many as it says; or lm-eval's part states another."""
    computed = again.get((score.task, score.metric)) if again else score
    return (
        computed is None
        or abs(computed.value - score.value) > _ROUNDING
        or computed.samples != score.samples
        or bool(score.of and computed.of != score.of)
        or not score.value - _ROUNDING <= stated.get((score.task, score.metric), score.value) <= score.value + _ROUNDING
    )


def _can_be(score: Score) -> bool:
    metric = find_metric(score.metric)
    is_share = metric is not None and metric.best == "higher"
    low, high = (score.value if bound is None else bound for bound in (score.low, score.high))
    return score.samples >= 1 and not (is_share and abs(score.value) > 1 + _ROUNDING) and low <= score.value <= high


# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
# An address, but for that of the Hub; a path, of which the last part is kept, alone or within a text.
_ADDRESS = re.compile(
    r"\b(?:(?!https?://huggingface\.co/)[a-z][a-z0-9+.]*://[^\s,'\"<>]+|\d+(?:\.\d+){3}(?::\d+)?\b)", re.IGNORECASE
)
_PATH = re.compile(
    r"^(?:~|\.+|\$\w+|[A-Za-z]:)?[/\\](?:[^\n,]*[/\\])?([^\n,/\\]*)$"
    r"|(?<![\w:/.~$-])[^\s,'\"/\\=]*[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]*)"
)


def cleaned(path: Path) -> bytes:
    """The content of a file of results without addresses, paths and a description of the machine."""
    bare = {
        name: _clean(part)
        for name, part in json.loads(path.read_text(encoding="utf-8-sig")).items()
        if name not in _OF_MACHINE
    }
    return (json.dumps(bare, indent=2, ensure_ascii=False) + "\n").encode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(r"\1\2", _ADDRESS.sub("(address)", value))
    if isinstance(value, dict):
        return {name: _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list) else value
