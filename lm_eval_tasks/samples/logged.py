"""Logged samples: what lm-eval's --log_samples and `academiceval eval` write, read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.journal import read_entries
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.llm.thoughts import reply_of
from lm_eval_tasks.metrics import refine
from lm_eval_tasks.metrics.scored import Kind, ScoredAnswer
from lm_eval_tasks.prompts import registry
from lm_eval_tasks.samples.sample_row import check_doc

# What a journal records of each sample besides its answer.
JOURNALED = (
    "id", "setting", "prompt_name", "prompt_version", "retriever", "first_author", "published", "round", "target", "of", "opens", "closes",
)  # fmt: skip
JOURNAL = "journal.jsonl"
# The field of a journal's line for the usage of an answer.
USAGE = "usage"
# What the slots summarise.
_TEXTS = ("prompt", "content", "demonstrations", "other")
# Characters of each end of a slot that are kept.
EXCERPT = 2000


@dataclass(frozen=True, slots=True)
class Logged:
    """One answer and its scores.

    Attributes:
        task: the setting, and what was done differently from usual: "Abs-29K-G", "Abs-9K abs_ralm bm25".
        kind: of task.
        retriever: of a retrieval task, else "".
        cluster: the first author.
        round, prompt_version: what the sample was made with; runs that differ in them cannot be compared.
        of: how many samples the setting has in all; None if an older release has not noted it.
        marker_words: of the abstract, per 1,000 words; None if it is not noted.
        repeats: the scores of each answer, if a prompt was answered several times.
    """

    task: str
    kind: Kind
    id: str
    cluster: str
    published: str
    round: str
    prompt_version: int
    target: str
    answer: str
    scores: dict[str, float]
    retriever: str = ""
    of: int | None = None
    repeats: tuple[dict[str, float], ...] = ()
    dataset_revision: str = ""
    marker_words: float | None = None


def read(paths: Sequence[Path]) -> list[Logged]:
    """The samples of JSON lines files, and of all `samples_*.jsonl` below folders; of their journals if there are none.

    A journal's samples are those that an unfinished run of `academiceval eval` has answered; they have no scores.

    Raises:
        SamplesError: there are none, or a file contains something else.
    """
    files = [file for path in paths for file in (_files(path) if path.is_dir() else [path])]
    if not files:
        raise SamplesError(
            f"{', '.join(map(str, paths))} contains no samples_*.jsonl; run lm_eval with --log_samples --output_path"
        )
    rows: dict[tuple[str, str], Logged] = {}
    for file in files:
        for one, _ in rows_of(file):
            if (one.task, one.id) in rows:
                raise SamplesError(
                    f"{file} contains a second answer to {one.task} {one.id}: give the files of one run of one model"
                )
            rows[one.task, one.id] = one
    return list(rows.values())


def rows_of(file: Path) -> Iterator[tuple[Logged, dict[str, Any]]]:
    """The samples of one file, each with the row that it was read from.

    In a journal, the newest answer to each question counts, and lines that cannot be read are skipped; a samples file
    has to be whole.

    Raises:
        SamplesError: it cannot be read, or a line is something else.
    """
    try:
        if file.name == JOURNAL:
            newest = {entry["key"]: entry for entry in read_entries(file) if entry is not None}
            yield from ((one, entry) for entry in newest.values() if (one := _of_entry(entry)) is not None)
            return
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parsed(line, f"line {number} of {file}")
    except OSError as err:
        raise SamplesError(f"{file} cannot be read: {err.strerror or err}") from err


def _parsed(line: bytes, where: str) -> tuple[Logged, dict[str, Any]]:
    try:
        row = parse_json(line)
        return of_row(row), row
    except ODD as err:
        raise SamplesError(f"{where} is not a logged sample of AcademicEval ({err})") from err


def _of_entry(entry: Mapping[str, Any]) -> Logged | None:
    try:
        return of_row(entry)
    except ODD:
        return None


def of_row(row: Mapping[str, Any]) -> Logged:
    """A sample as lm-eval logs it.

    Raises:
        ValueError and the like: a field is missing or not what it should be.
    """
    doc = check_doc(row["doc"])
    usual = registry.is_usual(doc["prompt_name"])
    task = doc["setting"] if usual else " ".join(filter(None, (doc["setting"], doc["prompt_name"], doc["retriever"])))
    journaled = "value" in row
    scored = (
        ScoredAnswer(_refined(row["value"], doc), {}) if journaled else ScoredAnswer.from_text(row["filtered_resps"][0])
    )
    return Logged(
        task=task,
        kind="cloze" if registry.task_of(doc["prompt_name"]) == registry.SCALAR else "writing",
        id=doc["id"],
        cluster=doc["first_author"],
        published=doc["published"],
        round=doc["round"],
        prompt_version=int(doc["prompt_version"]),
        target=doc["target"],
        answer=scored.answer,
        scores=scored.scores,
        retriever=doc["retriever"],
        of=doc.get("of"),
        repeats=scored.repeats,
        dataset_revision=doc.get("dataset_revision") or "",
        marker_words=doc.get("marker_words"),
    )


def compact(row: Mapping[str, Any]) -> dict[str, Any]:
    """A logged sample whose prompt is shown by its slots, with its reasoning separate from its answer: the length and
    the first and last characters of each.

    lm-eval writes a prompt twice, which for prompts of a book's length makes gigabytes; `prompt_hash` still names it.
    """
    doc = {key: value for key, value in row["doc"].items() if key not in _TEXTS}
    doc["slots"] = excerpts(row["doc"])
    replies = [reply_of(text or "", row["doc"]) for text in row["resps"][0]]
    return {
        **{key: value for key, value in row.items() if key != "arguments"},
        "doc": doc,
        "resps": [[reply.answer for reply in replies]],
        "reasoning": [{"characters": len(reply.reasoning), **_ends(reply.reasoning)} for reply in replies],
    }


def excerpts(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The slots of a sample's prompt, with `head` and `tail`; if both together are the whole, `tail` is empty."""
    if "prompt" not in doc:
        return list(doc.get("slots") or ())
    return [{**slot, **_ends(doc["prompt"][slot["start"] : slot["end"]])} for slot in doc.get("slots") or ()]


def _ends(text: str) -> dict[str, str]:
    if len(text) <= 2 * EXCERPT:
        return {"head": text, "tail": ""}
    return {"head": text[:EXCERPT], "tail": text[-EXCERPT:]}


def by_task(samples: Iterable[Logged]) -> dict[str, list[Logged]]:
    """Task -> its samples."""
    tasks: dict[str, list[Logged]] = {}
    for one in samples:
        tasks.setdefault(one.task, []).append(one)
    return tasks


def _refined(text: str, doc: Mapping[str, Any]) -> str:
    """A journaled answer as it would be scored."""
    answer = reply_of(text or "", doc).answer
    return refine.title(answer, str(doc["target"])) if registry.task_of(doc["prompt_name"]) == "title" else answer


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("samples_*.jsonl")) or sorted(folder.rglob(JOURNAL))
