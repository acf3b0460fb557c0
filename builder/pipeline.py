"""The stages in order: a round over a workspace -> a finished dataset folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from builder.citations.link import link_papers, link_report, link_ways
from builder.collect.crawl import crawl
from builder.collect.license_lookup import learn_licenses
from builder.dataset import folder
from builder.dataset.audit import audit, check
from builder.dataset.families import families
from builder.dataset.manifest import Configuration, Manifest
from builder.dataset.write_samples import write_settings
from builder.errors import FolderError
from builder.extract.stage import EXTRACTOR, extract_papers
from builder.extract.summary import summarise
from builder.round.configurations import by_task
from builder.samples.cut import cut_papers
from builder.samples.plan import PlannedSample, plan
from builder.samples.pool import Pool
from builder.samples.texts import TextsWriter
from builder.samples.tokens import token_counter
from builder.stage_report import STAGES, Stage, StageReport
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.version import VERSION
from lm_eval_tasks.compat.minilm import minilm_path

if TYPE_CHECKING:
    from builder.records import SplitDates
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.base import Engine
    from lm_eval_tasks.tasks.records import Setting

# In the workspace, while a folder is written.
TEXTS = "build.texts"


@dataclass(frozen=True, slots=True)
class BuiltRound:
    """The outcome of a build: the folder, its manifest, and what its stages did, with times."""

    output: Path
    manifest: Manifest
    reports: tuple[StageReport, ...]


# --- the stages before the build


def stages(workspace: Workspace, engine: Engine, wanted: Sequence[Stage] = STAGES) -> Iterator[StageReport]:
    """Crawl with its graph, extraction, links: the report of each as soon as it has ended; each resumes where it stopped.

    Args:
        wanted: those that are done; the others were done by earlier calls.

    Raises:
        StoreError: an earlier stage is not among them and was not finished.
    """
    round_, store = workspace.round_, workspace.store
    if round_.scalar.embed_local:
        minilm_path("shortcut")
    source = workspace.source
    if "crawl" in wanted:
        yield crawl(round_, source, store)
        yield workspace.graph_report
    if "extract" in wanted:
        started = time.perf_counter()
        workspace.on_graph = learn_licenses(source, store, workspace.on_graph)
        extract_papers(round_, source, store, workspace.on_graph, engine)
        workspace.extracted.seconds = time.perf_counter() - started
        yield workspace.extracted
    if "link" in wanted:
        linked = link_papers(round_, source, store, workspace.papers, workspace.documents)
        for family in families():
            family.prepare(workspace, engine)
        workspace.forget_papers()
        yield linked


# --- the build


def build(workspace: Workspace, engine: Engine, *, replace: bool = False) -> BuiltRound:
    """Write the dataset folder from the contents of the workspace; the source is not asked again.

    Args:
        replace: whether the folder may take the place of one of the same round with other contents.

    Raises:
        AuditError: the audit found more than the round allows.
        StoreError: an earlier stage was not finished.
        FolderError: the output is not ours, or no sample was produced.
    """
    round_, papers = workspace.round_, workspace.papers
    before = (workspace.crawled, workspace.graph_report, workspace.extracted, link_report(workspace.store, papers))
    token_counter()  # nothing can begin without its tokenizer
    if round_.scalar.embed_local:
        minilm_path("shortcut")
    with folder.replacing(round_.output) as place:
        settings, sampled = _write_settings(workspace, place, engine)
        _check_samples(settings, sampled, workspace.dates)
        questions, question_reports = _write_questions(workspace, place)
        findings = audit(place, (*settings, *questions), engine)
        check(findings, round_.audit)
        reports = (*sampled, *question_reports)
        manifest = Manifest(
            round=round_.round,
            code_version=VERSION,
            configurations=(*settings, *questions),
            reports=tuple(report.counts() for report in (*before, *reports)),
            seed=round_.seed,
            config=round_.config(),
            source=round_.source.kind,
            allowed=round_.audit,
            changes=round_.changes,
            extractor=EXTRACTOR,
            split=workspace.dates,
            reading=summarise(workspace.documents, [paper.id for paper in papers], round_.source.FILES),
            links=link_ways(workspace.store, papers),
            audit=findings,
        )
        finished = folder.finish(place, manifest)
        if not replace:
            folder.refuse_other_contents(finished, round_.output)
    return BuiltRound(round_.output, finished, reports)


def _check_samples(settings: Sequence[Configuration], sampled: Sequence[StageReport], dates: SplitDates) -> None:
    """Raise a FolderError if there is nothing to test on."""
    if not any(setting.samples for setting in settings):
        lines = "; ".join(report.line() for report in sampled)
        raise FolderError(f"no paper became a sample of any setting, nothing was written ({lines})")
    for setting in settings:
        if setting.samples and not setting.statistics("test").samples:
            raise FolderError(
                f"the test split of {setting.name} is empty ({setting.samples} samples, test from {dates.test_from}): "
                "begin it earlier in `split`, nothing was written"
            )


def _write_settings(workspace: Workspace, place: Path, engine: Engine) -> tuple[list[Configuration], list[StageReport]]:
    """Cut, plan and write every writing task; the configurations, and a report for each task."""
    round_ = workspace.round_
    texts = round_.workspace / TEXTS
    try:
        pool = _cut(workspace, texts, engine)
        planned: dict[Setting, list[PlannedSample]] = {}
        reports: list[StageReport] = []
        for task, settings in by_task(round_.chosen).items():
            started = time.perf_counter()
            samples, report = plan(pool, task, settings, engine)
            report.seconds = time.perf_counter() - started
            planned |= dict.fromkeys(settings, samples)
            reports.append(report)
        return write_settings(place, texts, planned, pool, workspace.dates, round_.round, engine), reports
    finally:
        texts.unlink(missing_ok=True)


def _cut(workspace: Workspace, texts: Path, engine: Engine) -> Pool:
    """The pool of the round, its papers' texts in a file."""
    round_, papers = workspace.round_, workspace.papers
    with TextsWriter(texts) as writer:
        cuts = cut_papers(
            progress(papers, "cut", len(papers)),
            workspace.documents,
            by_task(round_.chosen),
            round_.licenses,
            round_.samples,
            writer,
            engine,
        )
    return Pool(cuts, workspace.graph, round_.seed, round_.samples.min_citations, workspace.copies)


def _write_questions(workspace: Workspace, place: Path) -> tuple[list[Configuration], list[StageReport]]:
    """Write the questions of every family that the round asks for."""
    written = [outcome for family in families() for outcome in family.write(workspace, place)]
    return [configuration for configuration, _ in written], [report for _, of_one in written for report in of_one]
