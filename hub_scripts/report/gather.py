"""Samples of all models, setting by setting -> the figures of the leaderboard, and one file for each sample's page."""

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from builder.ids import url_of
from builder.round.allowed import allows
from builder.round.configurations import thousands_in
from hub_scripts.errors import ReportError
from hub_scripts.report.cells import WIN_RATE, Cell, Group, Key
from hub_scripts.report.inputs import Inputs, SamplesFile
from lm_eval_tasks.base.contract import Licenses
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.word_runs import run_words, share_run
from lm_eval_tasks.families import registry as metrics
from lm_eval_tasks.judge.verdict import points_of
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import Sample, paired, read_file, revisions_apart
from lm_eval_tasks.stats.columns import column, columns_of, zero_of
from lm_eval_tasks.stats.scores import by_place

_LOGGER = logging.getLogger(__name__)
# Of English papers, on average.
_CHARACTERS_OF_TOKEN = 4.5
# How many words in a row of a withheld text an answer may repeat.
MOST_COPIED = 25
_LONGEST_WORD = 20
# A metric, and a floor of it that is a baseline's score.
_BASELINES = tuple(
    (metric, floor)
    for metric in metrics.METRICS
    for name in metric.floors
    if (floor := metrics.find_metric(name)) and floor.baseline
)


@dataclass(slots=True)
class _Page:
    """One sample of a setting, as its models answered it."""

    row: PromptRow
    answers: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[dict[str, Any]] = field(default_factory=list)


def groups(inputs: Inputs) -> dict[Key, list[SamplesFile]]:
    """The files of each setting; a file's first line says what it contains."""
    files: dict[Key, list[SamplesFile]] = {}
    for file in inputs.samples:
        samples = read_file(file.path)
        # A journal contains all settings of its run, a samples file only one.
        for key in {_key(sample) for sample in (islice(samples, 1) if file.finished else samples)}:
            files.setdefault(key, []).append(file)
    return files


def gather(key: Key, files: Sequence[SamplesFile], inputs: Inputs, place: Path, licenses: Licenses) -> Group:
    """Read one setting's samples of all models, write their pages' data below `place` without the texts that the licences do not allow, and
    return the figures.

    Raises:
        SamplesError: a file cannot be read.
        ReportError: a run has two answers to one sample.
    """
    pages: dict[str, _Page] = {}
    by_model: dict[str, list[Sample]] = {}
    wins: dict[str, list[tuple[str, float, str]]] = {}
    waiting: set[str] = set()
    for file, model, samples in _newest_samples(key, files):
        for sample in samples:
            verdicts = inputs.verdicts.of(file.model, sample)
            _add(pages.setdefault(sample.identity, _Page(sample.row)), model, sample, verdicts)
            by_model.setdefault(model, []).append(sample)
            if (won := win(verdicts)) is not None:
                wins.setdefault(model, []).append((sample.identity, won, sample.cluster))
        if not file.finished:
            waiting.add(model)
    ids = sorted(pages, key=lambda id_: (pages[id_].row.published, pages[id_].row.id, id_))
    withheld = sum(
        _write_sample(place / key.slug / f"{i}.js", f"{key.slug}/{i}", pages[id_], licenses)
        for i, id_ in enumerate(ids)
    )
    finished = {model: samples for model, samples in by_model.items() if any(sample.scores for sample in samples)}
    rows = [pages[id_].row for id_ in ids]
    prompt_rows = [sample.row for samples in by_model.values() for sample in samples]
    return Group(
        key,
        rows[0].task,
        thousands_in(key.setting) or (round(fmean(tokens) / 1000) if (tokens := _tokens(prompt_rows)) else None),
        ids,
        [row.id for row in rows],
        [row.title for row in rows],
        [row.published for row in rows],
        sorted(
            [
                *(_cell(model, samples, wins.get(model, ())) for model, samples in finished.items()),
                *carried_baselines(finished),
            ],
            key=lambda cell: cell.model,
        ),
        sorted({row.prompt_version for row in prompt_rows}),
        {model: len(samples) for model, samples in sorted(by_model.items()) if model in waiting - finished.keys()},
        withheld,
        made_up=any(row.made_up for row in rows),
    )


def _newest_samples(key: Key, files: Sequence[SamplesFile]) -> Iterator[tuple[SamplesFile, str, list[Sample]]]:
    """The samples of a setting in each file, and their model; of runs that answer the same samples, only the newest
    that is no part of another.
    """
    runs: dict[str, list[tuple[SamplesFile, list[Sample]]]] = {}
    for file in sorted(files, key=lambda file: (-file.date, str(file.path))):
        by_model: dict[str, list[Sample]] = {}
        for sample in read_file(file.path):
            if _key(sample) == key:
                by_model.setdefault(_model(file.model, sample), []).append(sample)
        for model, samples in by_model.items():
            if len({sample.id for sample in samples}) < len(samples):
                raise ReportError(f"{file.path} has two answers to a sample of {key.setting}")
            runs.setdefault(model, []).append((file, samples))
    contents = _contents(key, {model: _of_one_build(model, of_model) for model, of_model in runs.items()})
    for model, of_model in runs.items():
        files_by_id: dict[str, SamplesFile] = {}
        for file, every in sorted(of_model, key=lambda run: _is_part(run[1], of_model)):
            samples = [sample for sample in every if contents.setdefault(sample.id, sample.identity) == sample.identity]
            if len(samples) < len(every):
                _LOGGER.warning(
                    "%s: %d samples of %s are left out: others of the round %s show other contents under their ids",
                    file.path,
                    len(every) - len(samples),
                    key.setting,
                    key.round,
                )
            ids = {sample.id for sample in samples}
            if samples and ids.isdisjoint(files_by_id):
                files_by_id |= dict.fromkeys(ids, file)
                yield file, model, samples
                continue
            other = next((files_by_id[id_].path for id_ in sorted(ids) if id_ in files_by_id), of_model[0][0].path)
            _LOGGER.warning(
                "%s: the run %s counts, which is newer or has more answers; to show both, name one with --label NAME=FOLDER",
                file.path,
                other,
            )


def _is_part(samples: Sequence[Sample], runs: Sequence[tuple[SamplesFile, list[Sample]]]) -> bool:
    """Whether one of a model's runs has all of some samples, and more."""
    ids = {sample.id for sample in samples}
    return any(ids < {sample.id for sample in others} for _, others in runs)


def _of_one_build(model: str, runs: list[tuple[SamplesFile, list[Sample]]]) -> list[Sample]:
    """The samples of a model's newest run, and of others over the same dataset, such as its shards; further runs are taken out."""
    newest = {sample.row.dataset_revision for sample in runs[0][1]}
    for file, samples in [run for run in runs if not newest & {sample.row.dataset_revision for sample in run[1]}]:
        _LOGGER.warning("%s: a newer run of %s over another dataset counts: %s", file.path, model, runs[0][0].path)
        runs.remove((file, samples))
    return [sample for _, samples in runs for sample in samples]


def _contents(key: Key, every: Mapping[str, Sequence[Sample]]) -> dict[str, str]:
    """Id -> identity of the newest samples of the model that answered most of a setting; a ReportError if another's are others."""
    most = max(every, key=lambda model: len(every[model]))
    for model, samples in every.items():
        try:
            paired(key.setting, every[most], samples)
        except SamplesError as err:
            raise ReportError(f"the runs of {most} and {model} do not belong on one page: {err}") from err
        if apart := revisions_apart(every[most], samples):
            _LOGGER.warning("%s, round %s, of %s and %s: %s", key.setting, key.round, most, model, apart)
    return {sample.id: sample.identity for sample in reversed(every[most])}


def _key(sample: Sample) -> Key:
    """The setting, and what was asked differently from usual; retrieval counts as part of the model."""
    return Key(sample.row.round, sample.row.setting if sample.row.retriever else sample.row.name)


def _model(label: str, sample: Sample) -> str:
    return f"{label} + {sample.row.retriever}" if sample.row.retriever else label


def _tokens(rows: Sequence[PromptRow]) -> list[int]:
    """The lengths of prompts, in tokens; estimated from their characters if no tokenizer was given. Unknown ones are left out."""
    return [
        length
        for row in rows
        if (
            length := row.tokens_before
            or round(max((slot.end for slot in row.slots), default=0) / _CHARACTERS_OF_TOKEN)
        )
    ]


def _add(page: _Page, model: str, sample: Sample, verdicts: Mapping[str, Any]) -> None:
    """Note a model's answer; the prompt is kept once for all models that saw the same."""
    row = sample.row
    prompt = {
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_after,
        "cut": {part: tokens for part, tokens in row.cuts.items() if tokens},
        "slots": [slot.to_json() for slot in row.excerpts()],
    }
    if prompt not in page.prompts:
        page.prompts.append(prompt)
    page.answers.append(
        {
            "model": model,
            "answer": sample.answer,
            "scores": {name: round(value, 4) for name, value in sample.scores.items()},
            "verdicts": verdicts,
            "prompt": page.prompts.index(prompt),
        }
    )


def win(verdicts: Mapping[str, Any]) -> float | None:
    """A sample's win rate over the judges that could decide it: 1, 0 or, if the orders disagree, 0.5."""
    all_points = [0.0 if orders == "empty" else points_of(orders) for orders in verdicts.values()]
    points = [point for point in all_points if point is not None]
    return fmean(points) if points else None


def _cell(model: str, samples: Sequence[Sample], wins: Sequence[tuple[str, float, str]]) -> Cell:
    columns = columns_of(samples)
    scored = max((columns[name].n for name in metrics.headline() if name in columns), default=len(samples))
    noted = samples[0].row.of
    if won := column(WIN_RATE, wins):
        columns[WIN_RATE] = won
    tokens = _tokens([sample.row for sample in samples])
    return Cell(
        model,
        scored,
        columns,
        {metric.name: floor for metric in metrics.METRICS if (floor := zero_of(metric.name, columns))},
        fmean(tokens) if tokens else None,
        len(samples) if noted is None and scored < len(samples) else noted,
        prompts={sample.identity: sample.prompt_hash for sample in samples},
        shown=samples[0].row.shown,
        reader=model.removesuffix(f" + {samples[0].row.retriever}"),
        lengths={sample.identity: sample.row.tokens_before for sample in samples if sample.row.tokens_before},
        places=by_place(samples),
    )


def carried_baselines(samples_by_model: Mapping[str, Sequence[Sample]]) -> Iterator[Cell]:
    """The baselines that were not run, and whose score samples carry beside their own."""
    samples = [sample for of_model in samples_by_model.values() for sample in of_model]
    for metric, shortcut in _BASELINES:
        if shortcut.baseline in samples_by_model:
            continue
        carrying = {sample.identity: sample for sample in samples if shortcut.name in sample.scores}
        columns = columns_of(list(carrying.values()))
        if scores := columns.get(shortcut.name):
            zero = zero_of(metric.name, columns)
            yield Cell(
                shortcut.baseline,
                samples=scores.n,
                columns={metric.name: scores},
                floors={metric.name: zero} if zero else {},
                tokens=None,
                of=max([scores.n, *(sample.row.of or 0 for sample in carrying.values())]),
                is_carried=True,
            )


def _write_sample(path: Path, name: str, page: _Page, licenses: Licenses) -> int:
    """Write one sample's data and return how many of its answers are withheld."""
    row = page.row
    about = {
        "id": row.id,
        "url": None if row.made_up else url_of(row.paper),
        "paper_id": row.paper_id,
        "title": row.title,
        "published": row.published,
        "license": row.license,
        "licenses": None if row.licenses is None else list(row.licenses),
        "target": row.target,
        "prompt_name": row.prompt_name,
    }
    facts: dict[str, Any] = {key: value for key, value in about.items() if value is not None}
    answers, prompts = page.answers, page.prompts
    # Samples of older releases do not give the licences of demonstrations: none of their text is shown.
    if licenses != "all" and not all(allows(license_, licenses) for license_ in row.licenses or ("unknown",)):
        facts["target"] = None
        excerpts = [slot.get(end, "") for prompt in prompts for slot in prompt["slots"] for end in ("head", "tail")]
        prompts = [_without_texts(prompt) for prompt in prompts]
        answers = [
            {**answer, "answer": None} if copies(answer, [row.target, *excerpts]) else answer for answer in answers
        ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(f"sample:{name}", {**facts, "answers": answers, "prompts": prompts}), encoding="utf-8")
    return sum(answer["answer"] is None for answer in answers)


def copies(answer: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """Whether an answer shows too much of some texts, the target and what is available of the prompt, to be redistributed. Runs with the
    whole prompt were measured when the answer was scored; if they were not, they count as long.
    """
    words = run_words(answer["answer"])
    if len(words) <= MOST_COPIED:
        # A text in a script without spaces is one word.
        return len(answer["answer"]) > _LONGEST_WORD * (MOST_COPIED + 1)
    runs = [answer["scores"].get(name, math.inf) for name in ("copied_from_input", "copied_from_demonstrations")]
    return max(runs) > MOST_COPIED or any(share_run(words, run_words(text), MOST_COPIED + 1) for text in texts)


def _without_texts(prompt: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **prompt,
        "slots": [
            {name: value for name, value in slot.items() if name not in ("head", "tail")} for slot in prompt["slots"]
        ],
    }


def script(name: str, data: object) -> str:
    """Data as a script that hands it over: what a page opened from disk may load, unlike a JSON file."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"academiceval({json.dumps(name)},{text});\n"
