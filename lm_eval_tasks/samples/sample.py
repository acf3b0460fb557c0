"""A sample of a run: a prompt, a model's answer to it, and the scores; and the files that samples are kept in.

lm-eval's `--log_samples` and `academiceval eval` write `samples_*.jsonl`; a journal holds the answers of an unfinished run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from lm_eval_tasks.base.contract import LIKELIHOOD
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import read_entries
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families import target_of
from lm_eval_tasks.llm.thoughts import take_apart
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.prompt_row import PromptRow, ends_of
from lm_eval_tasks.samples.results import JOURNAL
from lm_eval_tasks.samples.run_folder import are_of_one_run, files_below, newest_run, samples_below

_ROWS_SHOWN = 10
# A sample as lm-eval logs it, or a line of a journal: what it has besides ours is kept as it is.
Logged = Mapping[str, Any]
# What a journal records of each sample besides its answer and what its family says of it.
JOURNALED = (
    "id row_hash setting prompt_name prompt_version retriever shown "
    "first_author published round target of opens begins closes made_up way chat"
).split()
# The field of a journal's line for the usage of an answer.
USAGE = "usage"
# After the key of a question whose answer was empty: paid for, and asked again by the next run.
EMPTY = " empty"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer and its scores.

    Attributes:
        repeats: the scores of each answer, if a prompt was answered several times.
        failed: metrics that could not be computed.
        prompt_hash: of the prompt as the model got it; "" if it is not known.
        scorer: see `ScoredAnswer`.
        likelihoods: of the texts that a row by likelihood asks for; empty for others.
    """

    row: PromptRow
    answer: str
    scores: dict[str, float]
    repeats: tuple[dict[str, float], ...] = ()
    failed: tuple[str, ...] = ()
    prompt_hash: str = ""
    scorer: int = 0
    likelihoods: tuple[Likelihood, ...] = ()

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def task(self) -> str:
        """See `PromptRow.name`."""
        return self.row.name

    @property
    def cluster(self) -> str:
        """What the sample shares with those that it depends on."""
        return self.row.first_author

    def says_as(self, other: Self) -> bool:
        """Tell whether two samples are of the same prompt, with the same answer and scores."""
        return (self.prompt_hash, self.answer, self.scores) == (other.prompt_hash, other.answer, other.scores)

    @property
    def rounded_scores(self) -> dict[str, float]:
        """The scores to as many digits as do not depend on the machine."""
        return {name: round(score, 6) for name, score in self.scores.items()}

    @property
    def identity(self) -> str:
        """What pairs it with the same question of another run: nothing but its row's content and the version of its prompt."""
        row = self.row
        return row.row_hash or sha256_of_bytes(f"{row.id}\0{row.prompt_version}\0{row.target}")

    @classmethod
    def of_logged(cls, line: Logged) -> Self:
        """Read a sample as lm-eval logs it; one of `ODD` if a field is missing or not what it should be."""
        row = PromptRow.of_doc(line["doc"])
        scored = ScoredAnswer.from_text(line["filtered_resps"][0])
        prompt_hash = str(line.get("prompt_hash") or "")
        return cls(
            row,
            scored.answer,
            scored.scores,
            scored.repeats,
            scored.failed,
            prompt_hash,
            scored.scorer,
            likelihoods_of(line) if row.way == LIKELIHOOD else (),
        )

    @classmethod
    def of_entry(cls, entry: Logged) -> Self:
        """Read a line of a journal: an answer without scores, a text as it would be scored; errors as `of_logged`."""
        row = PromptRow.of_doc(entry["doc"])
        if row.way == LIKELIHOOD:
            return cls(row, "", {}, likelihoods=tuple(typed(Likelihood, each) for each in entry["value"]))
        answer = take_apart(entry["value"] or "", row.opens, row.closes, row.begins).answer
        refine = target_of(row.task).refine
        return cls(row, refine(answer, row.target) if refine else answer, {})


def read(paths: Sequence[Path]) -> list[Sample]:
    """Return the samples of JSON lines files, and of the runs in and below folders; of their journals if no run has ended.

    Raises:
        SamplesError: there are none, a file contains something else, or is not what the results of its run list.
    """
    files = [file for path in paths for file in (_files_of(newest_run(path)) if path.is_dir() else [path])]
    if not files:
        raise SamplesError(
            f"{', '.join(map(str, paths))} contains no samples_*.jsonl: name the --output folder of `academiceval eval`, or of "
            "lm_eval with --log_samples"
        )
    samples: dict[tuple[str, str], tuple[Sample, Path]] = {}
    for file in files:
        own: set[tuple[str, str]] = set()
        # Files whose answers these may repeat: which these are is looked up once for each.
        alike: set[Path] = set()
        for sample in read_file(file):
            key = (sample.task, sample.id)
            first, of = samples.setdefault(key, (sample, file))
            # Two tasks of one run may ask the same, one of them under another name.
            is_once = first is sample or (first.says_as(sample) and (of in alike or are_of_one_run(of, file)))
            if key in own or not is_once:
                raise SamplesError(
                    f"{file} contains a second answer to {sample.task} {sample.id}: give the files of one run of one model"
                )
            own.add(key)
            alike.add(of)
    return [sample for sample, _ in samples.values()]


def _files_of(folder: Path) -> list[Path]:
    return samples_below(folder) or files_below(folder, JOURNAL)


def read_file(file: Path) -> Iterator[Sample]:
    """Yield the samples of one file.

    In a journal, the newest answer to each sample counts (of several, if a prompt is asked repeatedly), and lines that
    cannot be read are skipped; a samples file has to be whole.

    Raises:
        SamplesError: it cannot be read, or a line is something else.
    """
    if file.name != JOURNAL:
        yield from (sample for sample, _ in read_lines(file))
        return
    try:
        newest = {entry["key"]: entry for entry in read_entries(file) if entry is not None}
    except OSError as err:
        raise SamplesError(f"{file} cannot be read: {err.strerror or err}") from err
    samples = {}
    for entry in newest.values():
        with suppress(*ODD):
            sample = Sample.of_entry(entry)
            samples[sample.task, sample.id] = sample
    yield from samples.values()


def read_lines(file: Path) -> Iterator[tuple[Sample, Logged]]:
    """Yield the samples of a samples file, each with its line as lm-eval wrote it; errors as `read_file`."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parse_line(line, f"line {number} of {file}")
    except OSError as err:
        raise SamplesError(f"{file} cannot be read: {err.strerror or err}") from err


def _parse_line(line: bytes, where: str) -> tuple[Sample, Logged]:
    try:
        content = parse_json(line, unique=True)
        return Sample.of_logged(content), content
    except ODD as err:
        raise SamplesError(f"{where} is not a logged sample of AcademicEval ({err})") from err


def compact(line: Logged) -> Logged:
    """Shorten a logged sample: its prompt is shown by its slots, with its reasoning separate from its answer: the length and
    the first and last characters of each.

    lm-eval writes a prompt twice, which for prompts of a book's length makes gigabytes; `prompt_hash` still names it.
    """
    row = PromptRow.of_doc(line["doc"])
    doc = {key: value for key, value in line["doc"].items() if key != "prompt"}
    own = row.short_own(doc.pop("own"))
    slots = [slot.to_json() for slot in row.excerpts()]
    kept = {
        **{key: value for key, value in line.items() if key != "arguments"},
        "doc": {**doc, "slots": slots, "own": own},
    }
    if row.way == LIKELIHOOD:
        likelihoods = [[asdict(likelihood)] for likelihood in likelihoods_of(line)]
        return {**kept, "resps": likelihoods, "filtered_resps": line["filtered_resps"][:1]}
    replies = [take_apart(text or "", row.opens, row.closes, row.begins) for text in line["resps"][0]]
    return {
        **kept,
        "resps": [[reply.answer for reply in replies]],
        "reasoning": [{"characters": len(reply.reasoning), **ends_of(reply.reasoning)} for reply in replies],
    }


def replies_of(line: Logged, row: PromptRow) -> list[str]:
    """Return the answers of a logged sample without their reasoning, which `compact` has taken off."""
    texts = [str(text or "") for text in line["resps"][0]]
    return (
        texts if "reasoning" in line else [take_apart(text, row.opens, row.closes, row.begins).answer for text in texts]
    )


def likelihoods_of(line: Logged) -> tuple[Likelihood, ...]:
    """Return the likelihoods of a logged row by likelihood; whoever scores it again compares them with its texts."""
    return tuple(Likelihood.of_logged(each[0], "") for each in line["resps"])


def by_task(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """Return task, as samples name it, -> its samples."""
    tasks: dict[str, list[Sample]] = {}
    for sample in samples:
        tasks.setdefault(sample.task, []).append(sample)
    return tasks


def paired(task: str, first: Sequence[Sample], second: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Return the samples of two runs of a task that asked the same of the same content, whatever their rounds are called; a SamplesError if
    fewer than half of the smaller run's are in the other.
    """
    theirs = {sample.identity: sample for sample in second}
    pairs = [(sample, theirs[sample.identity]) for sample in first if sample.identity in theirs]
    fewest = min(len(first), len(second))
    if 2 * len(pairs) < fewest:
        raise SamplesError(
            f"the two runs of {task} have only {len(pairs)} of {fewest} rows in common: {_difference_of(first, second)}"
        )
    return pairs


def revisions_apart(first: Sequence[Sample], second: Sequence[Sample]) -> str:
    """Return the rows that the revisions of the dataset, of two runs of a task, have differently; "" if none, or if they are not known."""
    contents, others = ({sample.id: sample.identity for sample in run} for run in (first, second))
    # What a run was not asked, its revision may have.
    are_whole = len(contents) == first[0].row.of and len(others) == second[0].row.of
    ids = contents.keys() | others.keys() if are_whole else contents.keys() & others.keys()
    apart = sorted(id_ for id_ in ids if contents.get(id_) != others.get(id_))
    names = {sample.row.dataset_revision[:12] for sample in (*first, *second)}
    if not apart or len(names) < 2 or "" in names:
        return ""
    shown = ", ".join(apart[:_ROWS_SHOWN]) + " and others" * (len(apart) > _ROWS_SHOWN)
    return f"the revisions {' and '.join(sorted(names))} of the dataset differ in {len(apart)} row{'s' * (len(apart) > 1)}: {shown}"


def _difference_of(first: Sequence[Sample], second: Sequence[Sample]) -> str:
    """Say why the rows of two runs are not the same."""
    if len({bool(sample.row.row_hash) for sample in (*first, *second)}) > 1:
        return "an earlier release made one of them and noted no hash of its rows; run it again into its folder, which asks nothing twice"
    for said, name in (("their prompts have the versions", "prompt_version"), ("they are of the rounds", "round")):
        values = [sorted({getattr(sample.row, name) for sample in run}) for run in (first, second)]
        if values[0] != values[1]:
            return f"{said} {' and '.join(map(str, values[0]))} and {' and '.join(map(str, values[1]))}"
    was_rebuilt = 2 * len({one.id for one in first} & {one.id for one in second}) >= min(len(first), len(second))
    return (
        "the rows of these ids have other contents, so the round was built again"
        if was_rebuilt
        else "they asked different samples"
    )
