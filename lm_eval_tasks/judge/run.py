"""`academiceval judge`: saved samples -> verdicts and win rates, on disk."""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import exclusive, write_whole
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.judge.ask import Comparison, Outcome, ask_judge, check_judge, is_answered, outcome_of, usages_of
from lm_eval_tasks.judge.verdict import PROMPT_VERSION, Judged, summary, texts_hash
from lm_eval_tasks.llm.chat import Server
from lm_eval_tasks.llm.usage import Means, Usage, UsageTotals
from lm_eval_tasks.samples.sample import Sample, by_task, paired, read

DEFAULT_JUDGE = "mistralai/Mixtral-8x22B-Instruct-v0.1"
_LOGGER = logging.getLogger(__name__)
# Of a verdict before any was given: the JSON of the prompt with six sentences.
_VERDICT_TOKENS = 400
# Task and id of a sample -> passages of its paper that precede the two texts; none for the published prompt.
_Passages = Mapping[tuple[str, str], str]


def load(paths: Sequence[Path]) -> list[Sample]:
    """The samples of one run; an EvalError if they have no text to judge, or come from several rounds."""
    writing = [sample for sample in read(paths) if sample.row.family.board == "writing"]
    # Of a run in several contexts, what was asked in full.
    samples = [sample for sample in writing if not sample.row.shown] or writing
    if not any(sample.answer.strip() for sample in samples):
        raise EvalError(f"{', '.join(map(str, paths))}: no sample has a text to judge")
    rounds = sorted({sample.row.round for sample in samples})
    if len(rounds) > 1:
        raise EvalError(f"the samples come from several rounds ({', '.join(rounds)}): judge each round separately")
    return samples


def against(samples: Sequence[Sample], others: Sequence[Sample]) -> list[Sample]:
    """The samples that both runs hold, each with the other run's answer as its target; an EvalError if the runs have no task in common, a
    SamplesError if few samples.
    """
    ours, theirs = by_task(samples), by_task(others)
    pairs = [pair for task, of_task in ours.items() if task in theirs for pair in paired(task, of_task, theirs[task])]
    if not pairs:
        raise EvalError("the two runs have no task in common")
    return [replace(sample, row=replace(sample.row, target=other.answer)) for sample, other in pairs]


def questions(samples: Sequence[Sample], passages: _Passages) -> Iterator[Comparison]:
    """Each sample with a text in both orders: generated text first, then reference first."""
    for sample in samples:
        target = sample.row.target
        if sample.answer.strip() and target.strip():
            shown = passages.get((sample.task, sample.id), "")
            yield Comparison(sample.task, sample.id, 0, sample.answer, target, shown)
            yield Comparison(sample.task, sample.id, 1, target, sample.answer, shown)


def estimate(samples: Sequence[Sample], model: str, output: Path, passages: _Passages) -> tuple[int, Usage]:
    """What judging the samples by one judge would still ask for, with the verdicts so far in `output`: requests, and tokens of prompts and
    answers (a token for four characters). Answers count as long as the judge's verdicts so far.
    """
    place = _journal_of(output, model)
    journal: Journal | Mapping[str, object] = Journal(place) if place.is_file() else {}
    lengths = [
        len(question.prompt) for question in questions(samples, passages) if not is_answered(model, question, journal)
    ]
    verdicts = [tokens for usage in usages_of(journal) if (tokens := usage.tokens_out)]
    return len(lengths), Usage(sum(lengths) // 4, round(len(lengths) * fmean(verdicts or [_VERDICT_TOKENS])))


def judge(
    samples: Sequence[Sample],
    server: Server,
    means: Means,
    concurrency: int,
    output: Path,
    name: str,
    passages: _Passages,
    evidence: int | None,
    other: str,
) -> dict[str, object]:
    """Judge the samples, and write `judge_<name>.json` (with `-against-<other>` and `-evidence-<n>`) and
    `verdicts_<judge>.jsonl`.

    Args:
        server: the judging model.
        means: what it may use.
        name: of the model that generated the texts.
        evidence: how many passages are shown for each sentence; None for the published prompt.
        other: of the model whose answers are the samples' targets (`against`); "" where the targets are the authors'.

    Raises:
        EvalError: see `ask.check_judge`; or no question was answered.
        ServerError: the server cannot be asked.
        EvalError: another process judges with the same model into `output`.
    """
    if len(slug(name)) + len(slug(other)) > 200:
        raise EvalError(f"the name {name!r:.60} is too long for a file; give a shorter --name")
    means.check()
    check_judge(server)
    place = _journal_of(output, server.model)
    with exclusive(place):
        journal = Journal(place)
        ask_judge(server, questions(samples, passages), 2 * len(samples), journal, means, concurrency)
        usages = usages_of(journal)
    outcomes = [
        [found for question in questions([sample], passages) if (found := outcome_of(server.model, question, journal))]
        for sample in samples
    ]
    _check_answered(server.model, outcomes)
    judged = [_judged(*pair) for pair in zip(samples, outcomes, strict=True)]
    # Who sees the paper answers another question than who does not.
    shown = f"{server.model} + {evidence} passages" if evidence else server.model
    results = {
        **_results(shown, judged, samples, name),
        "usage": {shown: asdict(replace(UsageTotals.of(usages), cost=means.cost(usages)))},
        **({"against": other} if other else {}),
    }
    endings = [f"-against-{slug(other)}" * bool(other), f"-evidence-{evidence}" if evidence else ""]
    place = output / f"judge_{slug(name)}{''.join(endings)}.json"
    with exclusive(place):
        before, now = _subjects_in(place), _subjects(results)
        if lost := sorted(subject for subject, count in before.items() if now.get(subject, 0) < count):
            _LOGGER.warning(
                "%s no longer has all results of %s; their verdicts are kept: the command with that judge and all samples shows them again",
                place,
                ", ".join(lost[:3]) + f" and {len(lost) - 3} more" * (len(lost) > 3),
            )
        write_whole(place, json.dumps(results, ensure_ascii=False, indent=1))
    return results


def _journal_of(output: Path, model: str) -> Path:
    return output / f"verdicts_{slug(model)}.jsonl"


def _subjects(results: Mapping[str, Any]) -> dict[str, int]:
    """What a file of results is about, judge, task and round -> on how many samples."""
    return {
        f"{judge} on {task}, round {results['round']}"[:200]: len(results["verdicts"][task])
        for task, judges in results["tasks"].items()
        for judge in judges
    }


def _subjects_in(file: Path) -> dict[str, int]:
    try:
        return _subjects(parse_json(file.read_bytes()))
    except (OSError, *ODD):
        return {}


def _check_answered(model: str, outcomes: Sequence[Sequence[Outcome]]) -> None:
    outcomes_of_all = [outcome for of_sample in outcomes for outcome in of_sample]
    failures = [outcome.failed for outcome in outcomes_of_all]
    if all(failures):
        raise EvalError(
            f"{model!r} did not answer any question, first: {failures[0] if failures else 'none were asked'}; the same command asks again"
        )
    if outcomes_of_all and not any(outcome.winners for outcome in outcomes_of_all):
        example = next(outcome.text for outcome in outcomes_of_all if not outcome.failed)
        raise EvalError(
            f"none of the answers of {model!r} names an overall winner in a JSON object, such as {example!r:.300}; take another judge"
        )


def _judged(sample: Sample, outcomes: Sequence[Outcome]) -> Judged:
    orders = (outcomes[0].winners, outcomes[1].winners) if outcomes else (None, None)
    return Judged(
        sample.task,
        sample.id,
        sample.cluster,
        orders,
        empty=not sample.answer.strip(),
        failed=sum(bool(outcome.failed) for outcome in outcomes),
        unopposed=not sample.row.target.strip(),
    )


def _results(model: str, judged: Sequence[Judged], samples: Sequence[Sample], name: str) -> dict[str, object]:
    return {
        "judged_model": name,
        "round": samples[0].row.round,
        "prompt_versions": sorted({sample.row.prompt_version for sample in samples}),
        "judge_prompt_version": PROMPT_VERSION,
        "tasks": {
            task: {model: summary([sample for sample in judged if sample.task == task])} for task in by_task(samples)
        },
        # The winners in both orders, generated text first and second; "empty" if there was no text.
        "verdicts": {
            task: {
                sample.id: {model: list(sample.orders) if sample.settled is None else "empty"}
                for sample in judged
                if sample.task == task
            }
            for task in by_task(samples)
        },
        "texts": {
            task: {sample.id: texts_hash(sample.answer, sample.row.target) for sample in of_task}
            for task, of_task in by_task(samples).items()
        },
    }


def slug(name: str) -> str:
    """A name fit for a file."""
    return re.sub(r"[^\w.-]+", "-", name)
