"""Stage 9: a finished dataset folder, read row by row, -> what may leak, what may have been read wrongly, who is in it.

Nothing is taken from the workspace: whoever has the folder can audit it. Each check is a share of the samples of all
settings, or a count; round.toml gives the thresholds and may waive a check by name.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import TypeAlias

from builder.collect.near_duplicates import Copies, near_duplicate
from builder.errors import AuditError
from builder.extract.quality import common_share, words_of
from builder.families.registry import faults, rows_of
from builder.ids import author_key, bare_id
from builder.parquet.schema import Row
from builder.records import writing_task
from builder.round.allowed import AuditTable
from lm_eval_tasks.base.contract import SPLITS, Split, Task
from lm_eval_tasks.base.figures import Audit
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.base.word_runs import Words, longest_common_run, longest_runs, run_words
from lm_eval_tasks.engines.registry import Engine, LocalEngine

# Runs of more words than this are taken for copies, as in the audits of training data.
LONG_RUN = 13
_MIN_ENGLISH = 0.12
# Length of each of the three parts by which a text's language is told: some 2,000 words in all.
_PART = 4000
_LEAST_CONTENT = 0.2
_LEAST_TARGET = 5
_ACTIVE = 20
# The checks that are shares of samples.
CHECKS = [name for name, field in AuditTable.model_fields.items() if field.annotation is float]
# What a text is, which is the name of its column, and of which paper.
_Slot: TypeAlias = tuple[str, str]
_COUNTED = ("title", "abstract", "published", "primary_category")
_IDS = ("id", "target", "demonstrations.list.element.id")
# Rows whose lengths tell what is far out.
_MANY = 50
# Bytes of rows that are worth more than one process.
_LARGE = 1 << 28


def audit(folder: Path, configurations: Iterable[ListedConfiguration], engine: Engine | None = None) -> Audit:
    """Audit the whole rows of a dataset folder's writing settings and reading families.

    SCALAR asks for a number, not for a text that could leak; rows by id have no text.

    Args:
        engine: runs the work, task by task; without one, this process does it.
    """
    every, by_task = list(configurations), dict[Task, list[ListedConfiguration]]()
    for configuration in every:
        if configuration.form == "full":
            by_task.setdefault(writing_task(configuration.task), []).append(configuration)
    size = sum(file.nbytes for group in by_task.values() for each in group for file in each.every_file)
    findings = (engine or LocalEngine()).map(partial(look_through, folder), by_task.items(), large=size > _LARGE)
    return _audit_of(list(progress(findings, "audit", len(by_task))), faults(folder, every))


def check(findings: Audit, allowed: AuditTable) -> None:
    """Raise an AuditError that names every check that is above its threshold and not waived."""
    values = findings.shares | findings.counts
    breaches = [
        f"{name} {values[name]} is above {allowed.limits[name]}"
        + (f" (e.g. {', '.join(findings.examples[name])})" if name in findings.examples else "")
        for name in allowed.breaches(findings)
    ]
    if breaches:
        raise AuditError(
            f"the audit found what this round does not allow: {'; '.join(breaches)}; check that, then raise the threshold or name the "
            "check in `audit.waive` of round.toml"
        )


@dataclass(slots=True)
class _Findings:
    """What the rows of one task show.

    Attributes:
        faults: check -> the samples that fail it.
        samples: how many there are.
        longest: words of the longest run that a target shares with what its prompt shows.
        days: setting -> split -> first and last day.
        tokens: setting -> tokens of each sample's input, and which it is.
        lengths: paper -> characters of its content.
        where: paper -> its samples.
        papers: id of a paper -> what is counted about it, whatever its task: some columns, and its first author's key.
    """

    task: Task
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    samples: int = 0
    longest: int = 0
    days: dict[str, dict[Split, tuple[str, str]]] = field(default_factory=dict)
    tokens: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    where: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    papers: dict[str, Row] = field(default_factory=dict)


def look_through(folder: Path, rows: tuple[Task, Sequence[ListedConfiguration]]) -> _Findings:
    """Return everything that the audit finds in the rows of one task, which are those of some configurations."""
    task, configurations = rows
    findings, runs = _Findings(task), _SharedRuns(folder, task, configurations)
    # What depends on only a few texts is checked once for all rows that show them.
    near, of_content = cache(near_duplicate), dict[tuple[str, int], list[str]]()
    for configuration in configurations:
        tokens = findings.tokens[configuration.name] = []
        days = findings.days[configuration.name] = {}
        for split, row in rows_of(folder, configuration):
            findings.samples += 1
            where = f"{configuration.name} {row['id']}"
            key = row["title"], hash(row["content"])
            if key not in of_content:
                of_content[key] = list(_content_faults(task, row))
            words, in_content, in_others = runs.of(row)
            findings.longest = max(findings.longest, in_content, in_others)
            for name in (
                *of_content[key],
                *_demonstration_faults(row, near),
                *_run_faults(task, words, in_content, in_others),
            ):
                findings.faults[name].append(where)
            first, last = days.get(split, (row["published"], row["published"]))
            days[split] = min(first, row["published"]), max(last, row["published"])
            tokens.append((row["input_tokens"], where))
            findings.lengths[row["id"]] = len(row["content"])
            findings.where[row["id"]].append(where)
            if row["id"] not in findings.papers:
                findings.papers[row["id"]] = {
                    **{name: row[name] for name in _COUNTED},
                    "author": author_key(next(iter(row["authors"]), "")),
                }
    return findings


def _content_faults(task: Task, row: Row) -> Iterator[str]:
    if task == "title" and title_key(row["title"]) in title_key(row["content"]):
        yield "title_in_content"
    if common_share(words_of(_parts(row["content"]))) < _MIN_ENGLISH:
        yield "not_english"


def _parts(text: str) -> str:
    """Return the beginning, the middle, and the end of a text."""
    middle = len(text) // 2
    return f"{text[:_PART]} {text[middle : middle + _PART]} {text[-_PART:]}"


def _demonstration_faults(row: Row, near: Callable[[str, str, str, str], bool]) -> Iterator[str]:
    demonstrations = row["demonstrations"]
    if any(demonstration["published"] >= row["published"] for demonstration in demonstrations):
        yield "demonstration_not_older"
    paper_id, texts = bare_id(row["id"]), (row["title"], row["abstract"])
    if any(
        bare_id(demonstration["id"]) == paper_id or near(*texts, demonstration["title"], demonstration["abstract"])
        for demonstration in demonstrations
    ):
        yield "demonstration_is_target"


def _run_faults(task: Task, words: int, in_content: int, in_others: int) -> Iterator[str]:
    """Yield runs that a target of so many words shares with the texts that its prompt shows."""
    if max(in_content, in_others) > LONG_RUN:
        yield "long_run"
    # A title of a few common words may occur in any paper.
    if words >= _LEAST_TARGET and in_others >= words:
        yield "target_in_demonstration"
    if task != "title" and in_content >= words:
        yield "target_in_content"


class _SharedRuns:
    """The longest runs of words that targets share with the other texts of their prompts, over the rows of one task.

    Each text is examined once, however many rows show it: a first pass over the ids learns which targets it is shown to; when it comes
    up in the second, it is compared with all of them. Texts are identified by their kind and their paper. If rows disagree about one,
    as only those of a damaged folder do, it is compared by itself.
    """

    def __init__(self, folder: Path, task: Task, configurations: Iterable[ListedConfiguration]) -> None:
        self._targets: dict[str, tuple[int, Words]] = {}
        self._shown_to: dict[_Slot, dict[str, None]] = {}
        self._runs: dict[_Slot, tuple[int, dict[str, int]]] = {}
        columns = (*_IDS, "citations.list.element.id") if task == "related" else _IDS
        for configuration in configurations:
            for _, row in rows_of(folder, configuration, columns):
                if row["id"] not in self._targets:
                    self._targets[row["id"]] = hash(row["target"]), run_words(row["target"])
                for slot, _ in _shown(row):
                    self._shown_to.setdefault(slot, {})[row["id"]] = None

    def of(self, row: Row) -> tuple[int, int, int]:
        """Measure a whole row: words of its target, of the longest run in the paper itself, of the longest in anything else."""
        target_hash, words = self._targets[row["id"]]
        same = target_hash == hash(row["target"])
        words = words if same else run_words(row["target"])
        runs = [self._run(row["id"], slot, record[slot[0]], words, same) for slot, record in _shown(row)]
        return len(words), runs[0], max(runs[1:], default=0)

    def _run(self, row_id: str, slot: _Slot, text: str, words: Words, same: bool) -> int:
        key = hash(text)
        if slot not in self._runs:
            ids = list(self._shown_to[slot])
            lengths = longest_runs([self._targets[id_][1] for id_ in ids], run_words(text))
            self._runs[slot] = key, dict(zip(ids, lengths, strict=True))
        first, runs = self._runs[slot]
        return runs[row_id] if same and first == key else longest_common_run(words, run_words(text))


def _shown(row: Row) -> Iterator[tuple[_Slot, Row]]:
    """Yield the texts that a prompt shows, the paper's own first: where each is, and the record that has it under the first word of
    that.
    """
    yield ("content", row["id"]), row
    for demo in row["demonstrations"]:
        yield ("content", demo["id"]), demo
        yield ("output", demo["id"]), demo
    for cited in row.get("citations") or ():
        yield ("abstract", cited["id"]), cited


def _audit_of(findings: Sequence[_Findings], of_questions: Mapping[str, list[str]]) -> Audit:
    where, papers = _together(findings)
    counts = {
        "same_paper": _same_papers(papers),
        "split_order": [name for of_task in findings for name in _disorder(of_task.days)],
        **of_questions,
    }
    samples = sum(of_task.samples for of_task in findings)
    shares = {name: len(where.get(name, ())) / max(1, samples) for name in CHECKS}
    shown = sorted({**where, **counts}.items())
    months = Counter(paper["published"][:7] for paper in papers.values())
    categories = Counter(paper["primary_category"] for paper in papers.values())
    authors = Counter(paper["author"] for paper in papers.values())
    by_most_active = sum(n for _, n in authors.most_common(_ACTIVE))
    return Audit(
        samples=samples,
        # A single sample of very many is not rounded away.
        shares={name: max(round(share, 4), 1e-4 * (share > 0)) for name, share in shares.items()},
        counts=dict(zip(counts, map(len, counts.values()), strict=True)),
        examples={name: _of_papers(where)[:3] for name, where in shown if where},
        longest_run=max([0, *(of_task.longest for of_task in findings)]),
        months=dict(sorted(months.items())),
        categories=dict(sorted(categories.items())),
        active_authors=round(by_most_active / max(1, len(papers)), 4),
    )


def _of_papers(where: Iterable[str]) -> list[str]:
    """Return the first sample of each paper, which its name ends with."""
    first: dict[str, str] = {}
    for name in where:
        first.setdefault(name.rpartition(" ")[2], name)
    return list(first.values())


def _together(findings: Sequence[_Findings]) -> tuple[dict[str, list[str]], dict[str, Row]]:
    """Return, over all tasks, where each check failed, and the papers by their ids."""
    faults: dict[str, list[str]] = defaultdict(list)
    papers: dict[str, Row] = {}
    longest: dict[str, int] = defaultdict(int)
    for of_task in findings:
        for name, where in of_task.faults.items():
            faults[name] += where
        for id_, paper in of_task.papers.items():
            papers.setdefault(id_, paper)
        for id_, length in of_task.lengths.items():
            longest[id_] = max(longest[id_], length)
    faults["length_outlier"] = [where for of_task in findings for where in _outliers(of_task.tokens)]
    # A task shows less than a fifth of what another one shows of the paper: more than one section is missing.
    faults["content_lost"] = [
        where
        for of_task in findings
        for id_, length in of_task.lengths.items()
        if length < _LEAST_CONTENT * longest[id_]
        for where in of_task.where[id_]
    ]
    return faults, papers


def _same_papers(papers: Mapping[str, Row]) -> list[str]:
    """Find papers that another one repeats under a second id."""
    seen = Copies()
    return [id_ for id_, paper in papers.items() if seen.add(id_, paper["title"], paper["author"], paper["abstract"])]


def _outliers(tokens: dict[str, list[tuple[int, str]]]) -> list[str]:
    """Return samples whose input is far out: more than three interquartile ranges from the middle half of its setting."""
    out: list[str] = []
    for rows in tokens.values():
        # Of fewer, a quarter may be far out by chance.
        if len(rows) >= _MANY:
            low, _, high = quantiles([n for n, _ in rows], n=4)
            room = 3 * (high - low)
            out += [where for n, where in rows if not low - room <= n <= high + room]
    return out


def _disorder(days: dict[str, dict[Split, tuple[str, str]]]) -> list[str]:
    """Return the settings in which a split begins before the last day of the previous one."""
    present = {setting: [splits[split] for split in SPLITS if split in splits] for setting, splits in days.items()}
    return [name for name, spans in present.items() if any(old[1] >= new[0] for old, new in pairwise(spans))]
