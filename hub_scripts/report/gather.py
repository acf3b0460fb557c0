"""Samples of all models, setting by setting -> the figures of the leaderboard, and one file for each sample's page."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from builder.round.licenses import Licenses, allows
from builder.round.names import thousands_in
from hub_scripts.report.cells import WIN_RATE, Cell, Group, Key
from hub_scripts.report.inputs import Inputs, ReportError, SamplesFile
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.core.word_runs import run_words, share_run
from lm_eval_tasks.judge.verdict import points_of
from lm_eval_tasks.metrics import registry as metrics
from lm_eval_tasks.prompts import registry as prompts
from lm_eval_tasks.samples import logged

if TYPE_CHECKING:
    from lm_eval_tasks.samples.logged import Logged
_LOGGER = logging.getLogger(__name__)
# Of English papers, on average.
_CHARACTERS_OF_TOKEN = 4.5
# How many words in a row of a withheld text an answer may repeat.
MOST_COPIED = 25
_LONGEST_WORD = 20
# Metrics of texts that are not in the tables of models.
_DIAGNOSTICS = tuple(one.name for one in metrics.of_texts() if not one.headline)
# How prompts and answers fared.
FLAGS = tuple(one.name for one in metrics.METRICS if one.rate)


@dataclass(slots=True)
class _Sample:
    """One sample of a setting, as its models answered it."""

    doc: dict[str, Any]
    answers: list[dict[str, Any]] = field(default_factory=list)
    variants: list[dict[str, Any]] = field(default_factory=list)


def groups(inputs: Inputs) -> dict[Key, list[SamplesFile]]:
    """The files of each setting; a file's first line says what it contains.

    Raises:
        SamplesError: a file is not one of samples.
    """
    found: dict[Key, list[SamplesFile]] = {}
    for file in inputs.samples:
        rows = logged.rows_of(file.path)
        # A journal contains all settings of its run, a samples file only one.
        for key in {Key(one.round, _setting(one)) for one, _ in (islice(rows, 1) if file.finished else rows)}:
            found.setdefault(key, []).append(file)
    return found


def gather(key: Key, files: Sequence[SamplesFile], inputs: Inputs, place: Path, licenses: Licenses) -> Group:
    """Read one setting's samples of all models, write their pages' data below `place`, and return the figures.

    Args:
        licenses: texts that these do not allow are left out of the samples' data.

    Raises:
        SamplesError: a file cannot be read.
        ReportError: a run has two answers to one sample.
    """
    samples: dict[str, _Sample] = {}
    read: dict[str, list[tuple[Logged, dict[str, Any]]]] = {}
    versions: set[int] = set()
    waiting: set[str] = set()
    for file, model, rows in _newest(key, files):
        for one, row in rows:
            verdicts = _verdicts(inputs, file.model, one)
            _add(samples.setdefault(one.id, _Sample(_head(row["doc"]))), model, one, row["doc"], verdicts)
            versions.add(one.prompt_version)
            read.setdefault(model, []).append((one, {**_facts(row["doc"]), "win": win(verdicts)}))
        if not file.finished:
            waiting.add(model)
    ids = sorted(samples, key=lambda id_: (samples[id_].doc["published"], id_))
    withheld = sum(
        _write_sample(place / key.slug / f"{i}.js", f"{key.slug}/{i}", samples[id_], licenses)
        for i, id_ in enumerate(ids)
    )
    finished = {model: rows for model, rows in read.items() if any(one.scores for one, _ in rows)}
    docs = [samples[id_].doc for id_ in ids]
    return Group(
        key, prompts.task_of(docs[0]["prompt_name"]), _context(key.setting, read), ids, [doc["title"] for doc in docs],
        [doc["published"] for doc in docs], [doc["first_author"] for doc in docs],
        [_cell(model, rows) for model, rows in sorted(finished.items())], sorted(versions),
        {model: len(rows) for model, rows in sorted(read.items()) if model in waiting - finished.keys()}, withheld,
    )  # fmt: skip


def _newest(
    key: Key, files: Sequence[SamplesFile]
) -> Iterator[tuple[SamplesFile, str, list[tuple[Logged, dict[str, Any]]]]]:
    """The rows of a setting in each file, and their model; of runs that answer the same samples, only the newest.

    Raises:
        ReportError: a file answers a sample twice.
    """
    taken: dict[str, dict[str, SamplesFile]] = {}
    for file in sorted(files, key=lambda one: (-one.date, str(one.path))):
        rows: dict[str, list[tuple[Logged, dict[str, Any]]]] = {}
        for one, row in logged.rows_of(file.path):
            if Key(one.round, _setting(one)) == key:
                rows.setdefault(_model(file.model, one), []).append((one, row))
        for model, own in rows.items():
            ids = {one.id for one, _ in own}
            if len(ids) < len(own):
                raise ReportError(f"{file.path} has two answers to a sample of {key.setting}")
            known = taken.setdefault(model, {})
            if ids.isdisjoint(known):
                known |= dict.fromkeys(ids, file)
                yield file, model, own
                continue
            newer = next(known[id_].path for id_ in sorted(ids) if id_ in known)
            _LOGGER.warning(
                "%s: the newer run %s counts; to show both, name one with --label NAME=FOLDER", file.path, newer
            )


def _setting(one: Logged) -> str:
    """The setting, and what was asked differently from usual; retrieval counts as part of the model."""
    setting, *variant = one.task.split(" ")
    return " ".join([setting, *variant[:1]]) if variant and "ralm" not in variant[0] else setting


def _model(label: str, one: Logged) -> str:
    variant = one.task.split(" ")[1:]
    return f"{label} + {variant[1] if len(variant) > 1 else variant[0]}" if variant and "ralm" in variant[0] else label


def _context(setting: str, read: Mapping[str, Sequence[tuple[Logged, Mapping[str, Any]]]]) -> int | None:
    """As the name says, else as long as the prompts are."""
    tokens = [facts["tokens_before"] for rows in read.values() for _, facts in rows if facts["tokens_before"]]
    return thousands_in(setting) or (round(fmean(tokens) / 1000) if tokens else None)


def _head(doc: Mapping[str, Any]) -> dict[str, Any]:
    """What a sample is, whoever answers."""
    wanted = ("id", "paper_id", "title", "published", "license", "licenses", "target", "prompt_name", "first_author")
    return {"title": "", "license": "unknown", **{name: doc[name] for name in wanted if name in doc}}


def _facts(doc: Mapping[str, Any]) -> dict[str, Any]:
    """The length of a prompt, in tokens; estimated from its characters if no tokenizer was given."""
    characters = max((slot.get("end", 0) for slot in doc.get("slots") or ()), default=0)
    return {"tokens_before": doc.get("tokens_before") or round(characters / _CHARACTERS_OF_TOKEN)}


def _add(sample: _Sample, model: str, one: Logged, doc: Mapping[str, Any], verdicts: Mapping[str, Any]) -> None:
    """Note a model's answer; the prompt is kept once for all models that saw the same."""
    prompt = {
        "tokens_before": doc.get("tokens_before", 0),
        "tokens_after": doc.get("tokens_after", 0),
        "cut": {name.removeprefix("cut_"): n for name, n in doc.items() if name.startswith("cut_") and n},
        "slots": logged.excerpts(doc),
    }
    if prompt not in sample.variants:
        sample.variants.append(prompt)
    scores = {name: round(value, 4) for name, value in one.scores.items()}
    sample.answers.append(
        {
            "model": model,
            "answer": one.answer,
            "scores": scores,
            "verdicts": verdicts,
            "prompt": sample.variants.index(prompt),
        }
    )


def _verdicts(inputs: Inputs, model: str, one: Logged) -> dict[str, Any]:
    return inputs.verdicts.get(model, {}).get(one.task, {}).get(one.id, {})


def win(verdicts: Mapping[str, Any]) -> float | None:
    """A sample's win rate over the judges that could decide it: 1, 0 or, if the orders disagree, 0.5."""
    every = [0.0 if orders == "empty" else points_of(orders) for orders in verdicts.values()]
    points = [one for one in every if one is not None]
    return fmean(points) if points else None


def _cell(model: str, rows: Sequence[tuple[Logged, Mapping[str, Any]]]) -> Cell:
    def of_each(name: str) -> dict[str, float]:
        return {one.id: one.scores[name] for one, _ in rows if name in one.scores}

    values = {name: of_each(name) for name in metrics.headline()}
    values[WIN_RATE] = {one.id: facts["win"] for one, facts in rows if facts["win"] is not None}
    cluster = {one.id: one.cluster for one, _ in rows}
    having = {name: own for name, own in values.items() if own}
    floors = {one.name: own for one in metrics.METRICS if (own := of_each(one.zero))}
    tokens = [facts["tokens_before"] for _, facts in rows if facts["tokens_before"]]
    flags = {name: own for name in FLAGS if (own := of_each(name))}
    return Cell(
        model, len(rows), {name: interval(list(own.values()), [cluster[id_] for id_ in own]) for name, own in having.items()},
        having, floors, flags, fmean(tokens) if tokens else None, rows[0][0].of,
        {name: of_each(name) for name in _DIAGNOSTICS},
    )  # fmt: skip


def _write_sample(path: Path, name: str, sample: _Sample, licenses: Licenses) -> int:
    """Write one sample's data and return how many of its answers are withheld."""
    doc = sample.doc
    facts = {name: value for name, value in doc.items() if name != "first_author"}
    answers, variants, withheld = sample.answers, sample.variants, 0
    # Samples of older releases do not give the licences of demonstrations: none of their text is shown.
    if licenses != "all" and not all(allows(one, licenses) for one in doc.get("licenses", ["unknown"])):
        facts["target"] = None
        shown = [slot.get(end, "") for one in variants for slot in one["slots"] for end in ("head", "tail")]
        variants = [_without_texts(one) for one in variants]
        answers = [{**one, "answer": None} if copies(one, [doc["target"], *shown]) else one for one in answers]
        withheld = sum(one["answer"] is None for one in answers)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(f"sample:{name}", {**facts, "answers": answers, "prompts": variants}), encoding="utf-8")
    return withheld


def copies(answer: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """Whether an answer shows too much of the texts that it was asked about, or of the target, to be redistributed.

    Runs with the whole prompt were measured when the answer was scored; if they were not, they count as long.

    Args:
        texts: the target, and what is available of the prompt.
    """
    words = run_words(answer["answer"])
    if len(words) <= MOST_COPIED:
        # A text in a script without spaces is one word.
        return len(answer["answer"]) > _LONGEST_WORD * (MOST_COPIED + 1)
    runs = [answer["scores"].get(name, math.inf) for name in ("copied_from_input", "copied_from_demonstrations")]
    return max(runs) > MOST_COPIED or any(share_run(words, run_words(text), MOST_COPIED + 1) for text in texts)


def _without_texts(prompt: Mapping[str, Any]) -> dict[str, Any]:
    bare = [{name: value for name, value in slot.items() if name not in ("head", "tail")} for slot in prompt["slots"]]
    return {**prompt, "slots": bare}


def script(name: str, data: object) -> str:
    """Data as a script that hands it over: what a page opened from disk may load, unlike a JSON file."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"academiceval({json.dumps(name)},{text});\n"
