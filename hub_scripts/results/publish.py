"""`academiceval push-results`: scores -> a dataset repository of results, and the leaderboards of the Hub.

A result file is uploaded without what it says of the machine, to `<model>/<rounds>/`, with a part of its hash in its name; next to it lie
the scores of its samples.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hub_scripts.errors import HubError, UnreachableError
from hub_scripts.hub.faults import endpoint
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.uploads import NOTHING_UPLOADED, Content, digest, refuse_secrets, unchanged_paths
from hub_scripts.results.leaderboard import FILE, OF_A_PART, entries, merge_entries, published_round
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.redaction import without_places
from lm_eval_tasks.families.registry import METRICS, headline
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import FOLDER_NAME, RESULTS, Results, read_results
from lm_eval_tasks.samples.run_folder import samples_beside, samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats.opened import check_against, open_run

# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
_ROUNDING = 1e-6
_TITLE = {"dataset": "Results", "model": "Evaluation results"}


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One result file.

    Attributes:
        stem: where it goes in the repository, without its ending; named by its content, so that no run replaces another's.
        address: of the file there.
    """

    path: Path
    results: Results
    stem: str
    address: str

    @property
    def files(self) -> dict[str, Content]:
        """Path in the repository of results -> content."""
        files: dict[str, Content] = {f"{self.stem}.json": cleaned(self.path)}
        return files | ({f"{self.stem}.scores.jsonl": lines} if (lines := score_lines(self.results)) else {})


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The repository of a model whose card should have the scores of SCALAR too.

    Attributes:
        model: ORG/MODEL.
        dataset: the repository in which the folder that was run is published; None if a published round was run.
        create_pr: propose the scores in a pull request, which needs no permission to write there.
    """

    model: str
    dataset: str | None = None
    create_pr: bool = False


@dataclass(frozen=True, slots=True)
class _CardChange:
    """What goes to a model's repository, and the commit that it was made for."""

    repo: Repo
    head: str
    files: Mapping[str, Content]


def push_results(
    paths: Sequence[Path], repo_id: str, card: ModelCard | None, *, yes: bool, subset: bool = False
) -> Iterator[str]:
    """Publish result files; yields lines to show.

    Args:
        paths: `results_*.json`, or folders of them.
        subset: publish runs over a part of the samples too.

    Raises:
        HubError: a file contains a secret, no result file, a file of another kind, no permission, a dataset that is not published, or the
            Hub does not answer.
    """
    # Of two runs of a task the newer counts.
    results = sorted(
        (_read_result(path, repo_id) for path in _result_files(paths)), key=lambda file: file.results.seconds
    )
    if card:
        _check_model(results, card.model)
    _check_split(results)
    if not subset:
        _check_whole(results)
    files = {path: content for file in results for path, content in file.files.items()}
    refuse_secrets(files)
    yield from (f"{repo_id}: {path}" for path in files)
    try:
        change = _card_change(card, results, patient=yes) if card else None
    except UnreachableError as err:
        if yes:
            raise
        yield f"{err}: so it is not known what would stand on the card; {NOTHING_UPLOADED}"
        return
    if card and change:
        yield from _card_lines(card, change, results[0].results)
    if not yes:
        yield NOTHING_UPLOADED
        return
    repo = Repo(repo_id)
    repo.check_write()
    if card and change and change.files and not card.create_pr:
        change.repo.check_write()
    repo.create(private=False)
    yield _upload(repo, repo.head(), files)
    if card and change and change.files:
        yield _upload(change.repo, change.head, change.files, create_pr=card.create_pr)


def _card_change(card: ModelCard, results: Sequence[ResultFile], *, patient: bool) -> _CardChange:
    """Put together a file of our own, in which scores take the place of older ones of the same tasks."""
    model = Repo(card.model, "model")
    head = Repo(card.model, "model", patient=patient).head()
    fresh = [
        entry
        for file in results
        if (published := published_round(file.results, card.dataset))
        for entry in entries(file.results, published, file.address)
    ]
    files = {FILE: merge_entries(model.read(FILE, head), fresh, model.id)} if fresh else {}
    return _CardChange(model, head, files)


def _card_lines(card: ModelCard, change: _CardChange, results: Results) -> Iterator[str]:
    ran = results.hub_model or results.model
    if ran.casefold() not in (card.model.casefold(), _name(card.model)):
        yield f"{card.model}: the results are of {ran!r}; make sure that this is the same model"
    yield from (f"{card.model}: {path}{' in a pull request' * card.create_pr}" for path in change.files)
    if not change.files:
        yield (
            f"{card.model}: no {FILE}: it is for whole runs of tasks in the eval.yaml of a dataset on the Hub; if a folder was "
            "run, name the repository that it is published in with --dataset"
        )


def _check_model(results: Sequence[ResultFile], card: str) -> None:
    names = sorted({file.results.model for file in results})
    if len(names) > 1:
        raise HubError(f"--card {card} is for one model, but the files are of {', '.join(names)}; push them one by one")
    for file in results:
        name = file.results.hub_model
        if name and _name(name) != _name(card):
            raise HubError(
                f"{file.path} has the results of {name}, and --card names {card}: scores go onto the card of the model that answered"
            )


def _check_whole(results: Sequence[ResultFile]) -> None:
    for file in results:
        run = file.results
        options = [f"{name}={run.options[name]}" for name in OF_A_PART if run.options.get(name)]
        limited = [f"{task} ({run.subset_of(task)})" for task in run.subsets] or options
        if limited:
            raise HubError(
                f"{file.path} covers only a part of the samples ({', '.join(limited)}); its scores are not those of the "
                "round: run all samples, or publish them as a subset's with --subset"
            )


def _check_split(results: Sequence[ResultFile]) -> None:
    for file in results:
        if file.results.split != TEST:
            raise HubError(
                f"{file.path} is about the split {file.results.split!r}, and a round's scores are those of its test papers: leave it out"
            )


def _name(model: str) -> str:
    """Return a model's name on the Hub without its organisation, which may have changed."""
    return model.rstrip("/").rpartition("/")[2].casefold()


def _result_files(paths: Sequence[Path]) -> list[Path]:
    files = [file for path in paths for file in (sorted(path.rglob(f"{RESULTS}*.json")) if path.is_dir() else [path])]
    if not files:
        raise HubError(
            f"{', '.join(map(str, paths))} contains no results_*.json; `academiceval eval` and lm_eval write them"
        )
    return files


def _read_result(path: Path, repo_id: str) -> ResultFile:
    results = _checked_results(path)
    name = re.sub(r"[^\w.-]+", "-", path.stem)[:120]
    stem = f"{results.model}/{results.round}/{name}-{sha256_of(path)[:8]}"
    return ResultFile(path, results, stem, f"{endpoint()}/datasets/{repo_id}/blob/main/{stem}.json")


def _checked_results(path: Path) -> Results:
    """Read a file of results that can be published: its numbers can be, and are what its samples give.

    Raises:
        HubError: it is no such file, has no score of our tasks, one that cannot be or that its samples do not give, or names that are no
            folders.
    """
    try:
        results = read_results(path)
        open_run(results)
        folder = Path(results.dataset or "nowhere").expanduser()
        # As it was when it was run.
        if (folder / MANIFEST).is_file() and sha256_of(folder / MANIFEST) == results.contents:
            check_against(results, read_manifest(folder))
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(FOLDER_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    for score in results.scores:
        if not _can_be(score):
            raise HubError(
                f"{path}: {score.task}, {score.metric}: {score.value} ({score.low} to {score.high}) over {score.samples} samples "
                "cannot be"
            )
    return results


def _can_be(score: Score) -> bool:
    """Tell whether a score is over some sample, within the limits of its metric, and in its interval."""
    metric = next((metric for metric in METRICS if score.metric in (metric.name, metric.usual)), None)
    least, greatest = (metric and metric.limits) or (-math.inf, math.inf)
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    is_within = least - _ROUNDING <= score.value <= greatest + _ROUNDING
    return score.samples >= 1 and is_within and low <= score.value <= high


def score_lines(results: Results) -> bytes:
    """Return JSON lines with the headline scores of each sample, from which anybody can compute means, intervals and paired differences;
    empty if the samples do not lie beside the results, a SamplesError if others do. Floors stay out: those of a question tell of its
    answer.
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
    """Return commit, or propose, what is not there yet, once; what has been added since the head is not overwritten."""
    same = unchanged_paths(repo.files(head), files)
    fresh = {path: content for path, content in files.items() if path not in same}
    if not fresh:
        return f"{repo.id} already has all of it"
    listed = "\n".join(f"{path} {digest(content)['sha256']}" for path, content in sorted(fresh.items()))
    mark = f"Files: {sha256_of_bytes(listed)}"
    if create_pr:
        change = Change(f"{_TITLE[repo.repo_type]} of AcademicEval ({sha256_of_bytes(listed)[:12]})", mark, fresh)
        return f"pull request: {repo.proposal_address(change) or repo.propose(change, head)}"
    return f"published: {repo.id}, commit {repo.commit(Change(_TITLE[repo.repo_type], mark, fresh), MAIN, head)}"


def cleaned(path: Path) -> bytes:
    """Return the content of a file of results without addresses, paths and a description of the machine."""
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    bare = {name: item for name, item in content.items() if name not in _OF_MACHINE}
    return (json.dumps(without_places(bare), indent=2, ensure_ascii=False) + "\n").encode()
