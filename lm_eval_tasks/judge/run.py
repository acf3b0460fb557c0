"""`academiceval judge`: saved samples -> verdicts and win rates, on disk."""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.contract import GENERATED
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import exclusive, write_whole
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.judge.ask import (
    Comparison,
    Outcome,
    ask_judge,
    check_judge,
    is_answered,
    key_of,
    outcome_of,
    usages_of,
)
from lm_eval_tasks.judge.verdict import PROMPT_VERSION, SETTLED, texts_hash
from lm_eval_tasks.judge.win_rates import Judged, summary
from lm_eval_tasks.llm.addresses import check_address
from lm_eval_tasks.llm.chat import Server
from lm_eval_tasks.llm.ledger import lost_in
from lm_eval_tasks.llm.usage import Means, Usage, UsageTotals, with_costs
from lm_eval_tasks.samples.sample import Sample, by_task, paired
from lm_eval_tasks.stats.opened import read_runs

DEFAULT_JUDGE = "mistralai/Mixtral-8x22B-Instruct-v0.1"
_LOGGER = logging.getLogger(__name__)
# Of a verdict before any was given: the JSON of the prompt with six sentences.
_VERDICT_TOKENS = 400
# Task and id of a sample -> passages of its paper that precede the two texts.
_Passages = Mapping[tuple[str, str], str]


def load(paths: Sequence[Path]) -> list[Sample]:
    """Return the samples of one run; an EvalError if they have no text to judge, or come from several rounds."""
    every = [sample for sample in read_runs(paths) if sample.row.family.board == "writing"]
    writing = [sample for sample in every if sample.row.way == GENERATED]
    _warn_of_left_out(every, writing, "not judged, because a likelihood is no text")
    samples = [sample for sample in writing if not sample.row.shown] or writing
    _warn_of_left_out(writing, samples, "not judged beside what was asked in full, but alone if you give their files")
    if not any(sample.answer.strip() for sample in samples):
        raise EvalError(f"{', '.join(map(str, paths))}: no sample has a text to judge")
    rounds = sorted({sample.row.round for sample in samples})
    if len(rounds) > 1:
        raise EvalError(f"the samples come from several rounds ({', '.join(rounds)}): judge each round separately")
    return samples


def _warn_of_left_out(every: Sequence[Sample], judged: Sequence[Sample], why: str) -> None:
    tasks = {sample.task for sample in judged}
    left_out = dict.fromkeys(sample.task for sample in every if sample.task not in tasks)
    if left_out:
        _LOGGER.warning("%s: %s", why, ", ".join(left_out))


def against(samples: Sequence[Sample], others: Sequence[Sample]) -> list[Sample]:
    """Return the samples that both runs hold, each with the other run's answer as its target; an EvalError if the runs have no task in
    common, a SamplesError if few samples.
    """
    ours, theirs = by_task(samples), by_task(others)
    common = [task for task in ours if task in theirs]
    pairs = [pair for task in common for pair in paired(task, ours[task], theirs[task])]
    if not pairs:
        raise EvalError("the two runs have no task in common")
    return [replace(sample, row=replace(sample.row, target=other.answer)) for sample, other in pairs]


def questions(samples: Sequence[Sample], passages: _Passages) -> Iterator[Comparison]:
    """Yield each sample with a text in both orders: generated text first, then reference first."""
    for sample in samples:
        target = sample.row.target
        if sample.answer.strip() and target.strip():
            shown = passages.get((sample.task, sample.id), "")
            yield Comparison(sample.task, sample.id, 0, sample.answer, target, shown)
            yield Comparison(sample.task, sample.id, 1, target, sample.answer, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What is to be judged.

    Attributes:
        server: the judging model.
        means: what it may use.
        name: of the model that generated the texts.
        output: folder for verdicts and win rates.
        evidence: how many passages are shown for each sentence; None for the published prompt.
        passages: task and id of a sample -> what of its paper precedes the two texts.
        against: the model whose answers are the samples' targets (`against`); "" where the targets are the authors'.
    """

    samples: Sequence[Sample]
    server: Server
    means: Means
    name: str
    output: Path
    concurrency: int = 16
    evidence: int | None = None
    passages: _Passages = field(default_factory=dict)
    against: str = ""

    @property
    def shown_name(self) -> str:
        """The judge's name in results: who sees the paper answers another question than who does not."""
        return f"{self.server.model} + {self.evidence} passages" if self.evidence else self.server.model

    @property
    def journal_file(self) -> Path:
        return self.output / f"verdicts_{slug(self.server.model)}.jsonl"

    @property
    def results_file(self) -> Path:
        against = f"-against-{slug(self.against)}" if self.against else ""
        evidence = f"-evidence-{self.evidence}" if self.evidence else ""
        return self.output / f"judge_{slug(self.name)}{against}-by-{slug(self.server.model)}{evidence}.json"

    def outcomes(self, sample: Sample, journal: Journal) -> list[Outcome]:
        """Find what the journal says about a sample, in its orders."""
        asked = questions([sample], self.passages)
        found = (outcome_of(self.server.model, question, journal) for question in asked)
        return [outcome for outcome in found if outcome]


def estimate(judging: Judging) -> tuple[int, Usage]:
    """Estimate what judging would still ask for, with the verdicts so far: requests, and tokens of prompts and
    answers (a token for four characters). Answers count as long as the judge's verdicts so far.
    """
    model, file = judging.server.model, judging.journal_file
    journal: Journal | Mapping[str, object] = Journal(file) if file.is_file() else {}
    every = questions(judging.samples, judging.passages)
    # Two questions that are the same are asked once.
    asked = {question.prompt for question in every if not is_answered(model, question, journal)}
    lengths = list(map(len, asked))
    verdicts = [usage.tokens_out for usage in usages_of(journal) if usage.tokens_out]
    answer = fmean(verdicts or [_VERDICT_TOKENS])
    return len(lengths), Usage(sum(lengths) // 4, round(len(lengths) * answer))


def judge(judging: Judging) -> dict[str, object]:
    """Judge the samples, and write a file of results and the journal of verdicts.

    Raises:
        EvalError: see `ask.check_judge`; or no question was answered; or another process judges with the same model into the same folder.
        ServerError: the server cannot be asked.
    """
    samples, server = judging.samples, judging.server
    if len(judging.results_file.name.encode()) > 250:
        raise EvalError(f"the name {judging.name!r:.60} is too long for a file; give a shorter --name")
    judging.means.check()
    check_judge(server)
    with exclusive(judging.journal_file):
        check_address(judging.journal_file, server.base_url or "")
        journal = Journal(judging.journal_file)
        asked = list(questions(samples, judging.passages))
        ask_judge(server, asked, journal, means=judging.means, concurrency=judging.concurrency)
    keys = {key_of(server.model, question) for question in asked}
    usages = usages_of({key: journal[key] for key in journal if key in keys})
    outcomes = [judging.outcomes(sample, journal) for sample in samples]
    _check_answered(server.model, outcomes)
    judged = [_judged(*pair) for pair in zip(samples, outcomes, strict=True)]
    used = with_costs(UsageTotals.of(usages), usages, judging.means, lost_in(journal))
    results = {**_results(judging, judged), "usage": {judging.shown_name: asdict(used)}}
    if judging.against:
        results["against"] = judging.against
    _write(judging.results_file, results)
    return results


def _write(file: Path, results: Mapping[str, Any]) -> None:
    with exclusive(file):
        before, now = _subjects_in(file), _subjects(results)
        lost = sorted(subject for subject, texts in before.items() if not texts <= now.get(subject, set()))
        if lost:
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            _LOGGER.warning(
                "%s no longer has all results of %s; their verdicts are kept: the command with that judge and all samples shows them "
                "again, and --name keeps models apart",
                file,
                ", ".join(lost[:3]) + more,
            )
        write_whole(file, json.dumps(results, ensure_ascii=False, indent=1))


def _subjects(results: Mapping[str, Any]) -> dict[str, set[tuple[str, str]]]:
    """Return what a file of results is about, judge, task and round -> samples with the hashes of their texts."""
    return {
        f"{judge} on {task}, round {results['round']}"[:200]: set(results["texts"][task].items())
        for task, judges in results["tasks"].items()
        for judge in judges
    }


def _subjects_in(file: Path) -> dict[str, set[tuple[str, str]]]:
    try:
        return _subjects(parse_json(file.read_bytes()))
    except (OSError, *ODD):
        return {}


def _check_answered(model: str, outcomes: Sequence[Sequence[Outcome]]) -> None:
    outcomes_of_all = [outcome for of_sample in outcomes for outcome in of_sample]
    failures = [outcome.failed for outcome in outcomes_of_all]
    if failures and all(failures):
        raise EvalError(f"{model!r} did not answer any question, first: {failures[0]}; the same command asks again")
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


def _results(judging: Judging, judged: Sequence[Judged]) -> dict[str, object]:
    samples, judge_name = judging.samples, judging.shown_name
    of_task = {task: [one for one in judged if one.task == task] for task in by_task(samples)}
    verdicts = {task: {one.id: {judge_name: _verdicts(one)} for one in of_one} for task, of_one in of_task.items()}
    texts: dict[str, dict[str, str]] = {task: {} for task in of_task}
    for sample in samples:
        texts[sample.task][sample.id] = texts_hash(sample.answer, sample.row.target)
    return {
        "judged_model": judging.name,
        "round": samples[0].row.round,
        "prompt_versions": sorted({sample.row.prompt_version for sample in samples}),
        "judge_prompt_version": PROMPT_VERSION,
        "tasks": {task: {judge_name: summary(of_one)} for task, of_one in of_task.items()},
        "verdicts": verdicts,
        "texts": texts,
    }


def _verdicts(judged: Judged) -> object:
    """Write the winners in both orders, generated text first and second; or which text is missing."""
    settled = judged.settled
    if settled is None:
        return list(judged.orders)
    return next(name for name, points in SETTLED.items() if points == settled)


def slug(name: str) -> str:
    """Return a name fit for a file."""
    return re.sub(r"[^\w.-]+", "-", name)
