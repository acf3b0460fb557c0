"""`academiceval metrics`: what metrics notice. Texts are damaged on purpose; a metric that notices scores the damaged text lower."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.damages.base import Material, sentences
from lm_eval_tasks.damages.registry import DAMAGES, HARMLESS, Kind, changed
from lm_eval_tasks.data import folds, hook
from lm_eval_tasks.errors import SamplesError
from lm_eval_tasks.intervals import interval
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.metrics.scored import Answers
from lm_eval_tasks.runs import logged
from lm_eval_tasks.runs.eyesight import Eyesight, ReportCard
from lm_eval_tasks.runs.run_docs import docs_of

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.registry import Metric

# What human text of a paper stands for an answer: the setting that shows it, and what the metric compares it with.
_HUMAN = {"abs": "Abs-9K", "title": "Title-10K", "intro": "Intro-8K"}
_CONCLUSION = re.compile(r"conclu|summary|closing remarks", re.IGNORECASE)
_WORDS = (40, 900)
_SECTIONS = "Title-10K"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be damaged.

    Attributes:
        task: "abs" and the like.
        cluster: the first author.
        doc: the row that it answers, with its prompt.
    """

    task: str
    id: str
    cluster: str
    category: str
    text: str
    target: str
    doc: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """What the prompt shows of the paper itself."""
        return str(self.doc["prompt"][self.doc["target_at"] :])


# --- texts to damage


def human_texts(dataset: str, task: str, bertscore_model: str, metadata: Mapping[str, Any]) -> list[Candidate]:
    """Other human texts of the papers of a dataset: for an abstract the conclusion, for a title the abstract's last sentence, for an
    introduction the abstract.

    Raises:
        EvalError: the dataset is not there.
    """
    given = {**metadata, "dataset": dataset, "bertscore_model": bertscore_model, "split": metadata.get("split", "all")}
    rows = hook.load(_HUMAN[task], 1, keep_parts=True, **given)["test"]
    whole = rows if _HUMAN[task] == _SECTIONS else hook.load(_SECTIONS, 1, keep_parts=True, **given)["test"]
    bodies = {row["id"]: row["content"] for row in whole}
    return [
        Candidate(task, row["id"], row["first_author"], row["primary_category"], text, row["target"], row)
        for row in rows
        if (text := _other_text(task, row, bodies.get(row["id"], "")))
    ]


def _other_text(task: str, row: Mapping[str, Any], body: str) -> str:
    if task == "title":
        return " ".join(sentences(row["abstract"])[-1:])
    if task == "intro":
        return str(row["abstract"])
    found = [fold.text for fold in folds.folds_of(body) if _CONCLUSION.search(fold.heading)]
    text = " ".join(found[-1].split()) if found else ""
    return text if _WORDS[0] <= len(text.split()) <= _WORDS[1] else ""


def answers_of(folder: Path, bertscore_model: str) -> list[Candidate]:
    """The saved answers of a run; its dataset is asked for their prompts.

    Raises:
        SamplesError: the folder holds no run of writing tasks.
    """
    answered = [
        one for one in logged.read([folder]) if one.kind == "writing" and " " not in one.task and one.answer.strip()
    ]
    if not answered:
        raise SamplesError(f"{folder} holds no answer to a writing task")
    found = []
    settings = sorted({one.task for one in answered})
    for setting, docs in docs_of([folder], settings, bertscore_model).items():
        for one in answered:
            if one.task == setting and (doc := docs.get(one.id)):
                task = setting.lower().partition("-")[0]
                found.append(Candidate(task, one.id, one.cluster, doc["primary_category"], one.answer, one.target, doc))
    return found


def _material(candidates: Sequence[Candidate], i: int) -> Material:
    """What a text's damages may take from: another paper, of the same category if there is one, and one of the same author."""
    own = candidates[i]
    others = [one for one in (*candidates[i + 1 :], *candidates[:i]) if one.id != own.id and one.task == own.task]
    by_author = [one for one in others if one.cluster == own.cluster]
    strangers = [one for one in others if one.cluster != own.cluster]
    other = next((one for one in strangers if one.category == own.category), strangers[0] if strangers else None)
    return Material(
        body=own.shown, other=other.text if other else "", own_other=by_author[0].text if by_author else "",
        other_body=other.shown if other else "", citations=tuple(own.doc.get("cited_titles") or ()),
    )  # fmt: skip


# --- measuring


def measure(candidates: Sequence[Candidate], metrics: Sequence[Metric]) -> ReportCard:
    """The report card of metrics over texts.

    Raises:
        SamplesError: there is no text.
    """
    if not candidates:
        raise SamplesError("there is no text to damage: the papers have no conclusion, or the run no answer")
    before = _scores(candidates, [one.text for one in candidates], metrics)
    materials = [_material(candidates, i) for i in range(len(candidates))]
    found: dict[str, dict[str, dict[str, Eyesight]]] = {"damages": defaultdict(dict), "harmless": defaultdict(dict)}
    for part, kinds in (("damages", DAMAGES), ("harmless", HARMLESS)):
        for kind in kinds:
            places = list(_changed(kind, candidates, materials))
            after = _scores([candidates[i] for i, _ in places], [text for _, text in places], metrics)
            for metric in metrics:
                pairs = [
                    (lower(metric, old, new), candidates[i].cluster)
                    for (i, _), new in zip(places, after[metric.name], strict=True)
                    if (old := before[metric.name][i]) is not None and new is not None
                ]
                if pairs:
                    # A harmless change that changes nothing is not a false alarm.
                    noted = [float(value == 1.0) if part == "harmless" else value for value, _ in pairs]
                    over = interval(noted, [cluster for _, cluster in pairs])
                    found[part][metric.name][kind.name] = Eyesight(
                        over.mean, _share(over.low), _share(over.high), len(pairs), len(candidates) - len(places)
                    )
    return ReportCard(dict(found["damages"]), dict(found["harmless"]))


def _share(value: float | None) -> float | None:
    """A bound of a share."""
    return None if value is None else min(1.0, max(0.0, value))


def _changed(kind: Kind, candidates: Sequence[Candidate], materials: Sequence[Material]) -> Iterator[tuple[int, str]]:
    for i, (one, material) in enumerate(zip(candidates, materials, strict=True)):
        if kind.tasks and one.task not in kind.tasks:
            continue
        made = changed(kind, one.text, material, one.id)
        if made is not None:
            yield i, made.text


def lower(metric: Metric, before: float, after: float) -> float:
    """1 where the changed text scores worse, 0 where it scores better, 0.5 where nothing changed."""
    gain = before - after if metric.best == "higher" else after - before
    return 1.0 if gain > 0 else 0.0 if gain < 0 else 0.5


def _scores(
    candidates: Sequence[Candidate], texts: Sequence[str], metrics: Sequence[Metric]
) -> dict[str, Sequence[float | None]]:
    docs = [one.doc for one in candidates]
    answers = Answers(docs, texts, [False] * len(texts), [one.target for one in candidates], raw=texts, whole=texts)
    return {metric.name: metric.compute(answers) if texts else [] for metric in metrics}


def measurable() -> list[Metric]:
    """The metrics of writing tasks for which higher is better, without floors."""
    floors = {name for one in registry.METRICS for name in one.floors}
    return [
        one for one in registry.of_kind("writing") if one.best == "higher" and not one.rate and one.name not in floors
    ]
