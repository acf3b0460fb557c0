"""Stage 9: a finished dataset folder, read row by row, -> what may leak, what may have been read wrongly, who is in it.

Nothing is taken from the workspace: whoever has the folder can audit it. Each check is a share of the samples of all
settings, or a count; round.toml gives the thresholds and may waive a check by name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

from builder.dataset.manifest import Audit, Configuration
from builder.dataset.rows import Row, rows_of
from builder.errors import AuditError
from builder.extract.quality import common_share
from builder.ids import author_key, bare_id, title_key
from builder.progress import progress
from builder.records import SPLITS, Split, Task
from builder.samples.near_duplicates import Copies, near_duplicate
from lm_eval_tasks.word_runs import longest_common_run, run_words

if TYPE_CHECKING:
    from builder.round.audit import AuditTable

# Runs of more words than this are taken for copies, as in the audits of training data.
LONG_RUN = 13
_MIN_ENGLISH = 0.12
_LEAST_CONTENT = 0.2
_LEAST_TARGET = 5
_ACTIVE = 20
_CACHED_TEXTS = 1024
_WORD = re.compile(r"[^\W_]+")
# Words that abstracts use far more often since late 2022 (arXiv 2406.07016).
MARKERS = frozenset(
    "commendable comprehensive crucial delve delves delving encompass enhancing groundbreaking insights intricate "
    "intricacies invaluable leverage leveraging meticulous meticulously notable notably noteworthy pivotal realm "
    "showcase showcases showcasing surpass surpassing tapestry underscore underscores underscoring".split()
)


def audit(folder: Path, configurations: Iterable[Configuration]) -> Audit:
    """Audit the whole rows of a dataset folder's writing settings.

    SCALAR asks for a number, not for a text that could leak; rows by id have no text; a core was audited in its own round.
    """
    tally = _Tally()
    audited = [one for one in configurations if one.form == "full"]
    for one in progress(audited, "audit", len(audited)):
        assert one.task != "cloze", "full rows are those of writing settings"
        for split, row in rows_of(folder, one):
            tally.add(one.name, one.task, split, row)
    return tally.close()


def breaches(found: Audit, allowed: AuditTable) -> list[str]:
    """The checks that are above their threshold and not waived."""
    values = {**found.shares, **{name: float(n) for name, n in found.counts.items()}}
    return [name for name, limit in allowed.limits.items() if values.get(name, 0) > limit and name not in allowed.waive]


def check(found: Audit, allowed: AuditTable) -> None:
    """Raise an AuditError that names every breach."""
    if names := breaches(found, allowed):
        listed = "; ".join(
            f"{name} {found.shares.get(name, found.counts.get(name))} is above {allowed.limits[name]}"
            + (f" (e.g. {', '.join(found.examples[name])})" if name in found.examples else "")
            for name in names
        )
        raise AuditError(
            f"the audit found what this round does not allow: {listed}; look at it, then raise the threshold or name the "
            "check in `audit.waive` of round.toml"
        )


class _Tally:
    """Collects over rows. What depends on a paper and a task alone is looked at in the first setting that shows it."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = defaultdict(list)
        self._samples = 0
        self._longest = 0
        self._runs: dict[tuple[Task, str, str], int] = {}
        # Several settings and samples show the same texts.
        self._words = lru_cache(maxsize=_CACHED_TEXTS)(run_words)
        self._content: dict[tuple[Task, str], list[str]] = {}
        self._days: dict[str, dict[Split, tuple[str, str]]] = defaultdict(dict)
        self._papers: dict[str, tuple[str, str, str]] = {}
        self._seen = Copies()
        self._copies: list[str] = []
        self._tokens: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._lengths: dict[str, dict[Task, int]] = defaultdict(dict)
        self._abstracts: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, setting: str, task: Task, split: Split, row: Row) -> None:
        self._samples += 1
        where = f"{setting} {row['id']}"
        if (task, row["id"]) not in self._content:
            self._content[task, row["id"]] = list(_content_faults(task, row))
        for name in (*self._content[task, row["id"]], *_demonstration_faults(row), *self._run_faults(task, row)):
            self._found[name].append(where)
        first, last = self._days[setting].get(split, (row["published"], row["published"]))
        self._days[setting][split] = min(first, row["published"]), max(last, row["published"])
        self._tokens[setting].append((row["input_tokens"], where))
        self._lengths[row["id"]][task] = len(row["content"])
        self._add_paper(row)

    def _add_paper(self, row: Row) -> None:
        if row["id"] in self._papers:
            return
        month = row["published"][:7]
        author = row["authors"][0]
        self._papers[row["id"]] = author_key(author), month, row["primary_category"]
        if self._seen.add(row["id"], row["title"], author, row["abstract"]):
            self._copies.append(row["id"])
        words = _WORD.findall(row["abstract"].casefold())
        self._abstracts[month].update(all=len(words), markers=sum(word in MARKERS for word in words))

    def _run_faults(self, task: Task, row: Row) -> Iterator[str]:
        """Runs that the target shares with each text that its prompt shows."""
        target = self._words(row["target"])
        texts = {"": row["content"], **{d["id"]: f"{d['content']} . {d['output']}" for d in row["demonstrations"]}}
        texts |= {f"cites {one['id']}": one["abstract"] for one in row.get("citations") or ()}
        runs = {}
        for name, text in texts.items():
            key = (task, row["id"], name)
            if key not in self._runs:
                self._runs[key] = longest_common_run(target, self._words(text))
            runs[name] = self._runs[key]
        longest = max(runs.values())
        self._longest = max(self._longest, longest)
        if longest > LONG_RUN:
            yield "long_run"
        # A title of a few common words may stand in any paper.
        if len(target) >= _LEAST_TARGET and any(n >= len(target) for name, n in runs.items() if name):
            yield "target_in_demonstration"
        if task != "title" and runs[""] >= len(target):
            yield "target_in_content"

    def close(self) -> Audit:
        """The shares, counts and distributions."""
        self._found["length_outlier"] += _outliers(self._tokens)
        self._found["content_lost"] += _lost(self._lengths)
        counts = {"same_paper": self._copies, "split_order": _disorder(self._days)}
        authors = Counter(author for author, _, _ in self._papers.values())
        n = max(1, self._samples)
        return Audit(
            samples=self._samples,
            shares={name: round(len(self._found.get(name, ())) / n, 4) for name in SHARES},
            counts={name: len(found) for name, found in counts.items()},
            examples={name: found[:3] for name, found in sorted({**self._found, **counts}.items()) if found},
            longest_run=self._longest,
            months=dict(sorted(Counter(month for _, month, _ in self._papers.values()).items())),
            categories=dict(sorted(Counter(category for *_, category in self._papers.values()).items())),
            active_authors=round(sum(k for _, k in authors.most_common(_ACTIVE)) / max(1, len(self._papers)), 4),
            markers={
                month: round(1000 * counted["markers"] / max(1, counted["all"]), 3)
                for month, counted in sorted(self._abstracts.items())
            },
        )


SHARES = (
    "long_run", "title_in_content", "target_in_content", "target_in_demonstration", "demonstration_not_older",
    "demonstration_is_target", "not_english", "content_lost", "length_outlier",
)  # fmt: skip


def _content_faults(task: Task, row: Row) -> Iterator[str]:
    """The checks that a row's content fails."""
    if task == "title" and title_key(row["title"]) in title_key(row["content"]):
        yield "title_in_content"
    if common_share(row["content"]) < _MIN_ENGLISH:
        yield "not_english"


def _demonstration_faults(row: Row) -> Iterator[str]:
    """The checks that the choice of a row's demonstrations fails."""
    demonstrations = row["demonstrations"]
    if any(one["published"] >= row["published"] for one in demonstrations):
        yield "demonstration_not_older"
    own = bare_id(row["id"])
    texts = row["title"], row["abstract"]
    if any(
        bare_id(one["id"]) == own or near_duplicate(*texts, one["title"], one["abstract"]) for one in demonstrations
    ):
        yield "demonstration_is_target"


def _outliers(tokens: dict[str, list[tuple[int, str]]]) -> list[str]:
    """Samples whose input is far out: more than three interquartile ranges from the middle half of its setting."""
    out: list[str] = []
    for rows in tokens.values():
        if len(rows) >= 8:
            low, _, high = quantiles([n for n, _ in rows], n=4)
            room = 3 * (high - low)
            out += [where for n, where in rows if not low - room <= n <= high + room]
    return out


def _lost(lengths: dict[str, dict[Task, int]]) -> list[str]:
    """Papers of which a task shows less than a fifth of what another task shows: more than one section is gone."""
    return [
        f"{task} {paper_id}"
        for paper_id, tasks in lengths.items()
        for task, n in tasks.items()
        if n < _LEAST_CONTENT * max(tasks.values())
    ]


def _disorder(days: dict[str, dict[Split, tuple[str, str]]]) -> list[str]:
    """Settings in which a split begins before the last day of the one before it."""
    out = []
    for setting, splits in days.items():
        present = [splits[split] for split in SPLITS if split in splits]
        if any(earlier[1] >= later[0] for earlier, later in pairwise(present)):
            out.append(setting)
    return out
