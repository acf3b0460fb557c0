"""The stages in order: a round over a workspace -> a finished dataset folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from builder.citations.link import link_papers, link_report, link_ways, unresolved_examples
from builder.collect.coverage import months_before
from builder.collect.crawl import crawl, crawl_report
from builder.collect.graph import CoAuthorGraph, build_graph
from builder.collect.identities import identities_of
from builder.collect.license_lookup import learn_licenses
from builder.dataset import folder
from builder.dataset.audit import audit, check
from builder.dataset.families import Material, families
from builder.dataset.fill import fill
from builder.dataset.manifest import Configuration, Manifest
from builder.dataset.write_samples import write_settings
from builder.errors import FolderError
from builder.extract.stage import EXTRACTOR, choose_documents, extract_papers
from builder.extract.summary import summarise
from builder.round.configurations import by_task
from builder.samples.cut import cut_papers
from builder.samples.near_duplicates import copies
from builder.samples.plan import Planned, plan
from builder.samples.pool import Pool
from builder.samples.split import split_dates
from builder.samples.texts import TextsWriter
from builder.samples.tokens import token_counter
from builder.sources.base import open_source
from builder.stage_report import STAGES, Stage, StageReport
from builder.store import STORE, Store
from lm_eval_tasks.compat.minilm import minilm_path
from lm_eval_tasks.core.locks import exclusive
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.version import VERSION
from lm_eval_tasks.engines.local import LocalEngine

if TYPE_CHECKING:
    from builder.records import LinkWay, Paper, SplitDates
    from builder.round.model import Round
    from lm_eval_tasks.engines.base import Engine
    from lm_eval_tasks.tasks.records import Setting

# In the workspace, while a folder is written.
TEXTS = "build.texts"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a build: the folder, its manifest, and what its stages did, with times."""

    output: Path
    manifest: Manifest
    reports: tuple[StageReport, ...]


@contextmanager
def _workspace(round_: Round) -> Iterator[Store]:
    """The round's store, for this process alone."""
    with exclusive(round_.workspace / STORE), Store.open(round_.workspace / STORE) as store:
        yield store


# --- the stages before the build


def run(round_: Round, engine: Engine, *, replace: bool = False) -> Outcome:
    """All stages, each resuming where an earlier call stopped."""
    prepare(round_, engine)
    return build(round_, engine, replace=replace)


def prepare(round_: Round, engine: Engine) -> list[StageReport]:
    """The stages before the build."""
    return list(stages(round_, engine))


def stages(round_: Round, engine: Engine, wanted: Sequence[Stage] = STAGES) -> Iterator[StageReport]:
    """Crawl with its graph, extraction, links: the report of each as soon as it has ended.

    Args:
        wanted: those that are done; the others were done by earlier calls.

    Raises:
        StoreError: an earlier stage is not among them and was not finished.
    """
    if round_.scalar.embed_local:
        minilm_path("shortcut")
    with _workspace(round_) as store:
        source = open_source(round_, store)
        if "crawl" in wanted:
            yield crawl(round_, source, store)
        else:
            crawl_report(round_, store)  # raises if no earlier call has crawled
        graph, on_graph = _graph(round_, store)
        if "crawl" in wanted:
            yield on_graph
        papers = _papers(store, graph)
        if "extract" in wanted:
            papers = learn_licenses(source, store, papers)
            started = time.perf_counter()
            extract_papers(round_, source, store, papers, engine)
            _, extracted = choose_documents(round_, store, papers)
            extracted.seconds = time.perf_counter() - started
            yield extracted
        if "link" in wanted:
            documents, _ = choose_documents(round_, store, papers)
            linked = link_papers(round_, source, store, papers, documents)
            with_text = [paper for paper in papers if paper.id in documents]
            dates = split_dates(round_.split, with_text)
            for family in families():
                family.prepare(Material(round_, store, with_text, documents, dates, graph), source, engine)
            yield linked


def graph_of(round_: Round) -> CoAuthorGraph:
    """The co-author graph of a crawled round."""
    with _workspace(round_) as store:
        return _graph(round_, store)[0]


def links_of(round_: Round) -> tuple[dict[LinkWay, int], list[str]]:
    """Of a linked round the links by way, and examples of what stayed unresolved."""
    with _workspace(round_) as store:
        papers = _papers(store, _graph(round_, store)[0])
        documents, _ = choose_documents(round_, store, papers)
        return link_ways(store, papers), unresolved_examples(store, papers, documents)


def fill_only(round_: Round, source: Path, output: Path, engine: Engine) -> StageReport:
    """Complete a publishable copy with the round's workspace and source."""
    with _workspace(round_) as store:
        return fill(source, output, round_, open_source(round_, store), store, engine)


def _graph(round_: Round, store: Store) -> tuple[CoAuthorGraph, StageReport]:
    started = time.perf_counter()
    window = round_.papers
    papers = store.pool_authorships(round_.round, window.categories, window.published_from, window.published_to)
    graph, report = build_graph(
        papers,
        round_.graph.max_authors,
        round_.graph.component,
        identities=identities_of(store.identified_authorships(round_.round)),
        members=store.frontier.members(round_.round) if round_.crawl.seeds else None,
        papers_from=_months_back(round_, round_.max_age_months),
        active_from=_months_back(round_, round_.inactive_months),
    )
    report.seconds = time.perf_counter() - started
    return graph, report


def _months_back(round_: Round, months: int | None) -> date:
    return date.min if months is None else months_before(round_.last_day, months)


def _papers(store: Store, graph: CoAuthorGraph) -> list[Paper]:
    """The papers on the graph, by id."""
    return list(store.papers(sorted(id_ for ids in graph.papers.values() for id_ in ids)))


# --- the build


def build(round_: Round, engine: Engine | None = None, *, replace: bool = False) -> Outcome:
    """Write the dataset folder from the contents of the workspace; the source is not asked again.

    Args:
        engine: runs the work; without one, this process does it.
        replace: whether the folder may take the place of one of the same round with other contents.

    Raises:
        AuditError: the audit found more than the round allows.
        StoreError: an earlier stage was not finished.
        FolderError: the output is not ours, or no sample was produced.
    """
    engine = engine or LocalEngine()
    with _workspace(round_) as store:
        material, before = _material(round_, store)
        token_counter()  # nothing can begin without its tokenizer
        if round_.scalar.embed_local:
            minilm_path("shortcut")
        with folder.replacing(round_.output) as place:
            settings, sampled = _write_settings(material, place, engine)
            _check_samples(settings, sampled, material.dates)
            questions, question_reports = _write_questions(material, place)
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
                split=material.dates,
                reading=summarise(material.documents, [paper.id for paper in material.papers], round_.source.FILES),
                links=link_ways(store, material.papers),
                audit=findings,
            )
            finished = folder.finish(place, manifest)
            if not replace:
                folder.refuse_other_contents(finished, round_.output)
    return Outcome(round_.output, finished, reports)


def _material(round_: Round, store: Store) -> tuple[Material, list[StageReport]]:
    """What the workspace contains of a round, with the reports of the stages before the build."""
    crawled = crawl_report(round_, store)
    graph, on_graph = _graph(round_, store)
    all_papers = _papers(store, graph)
    documents, extracted = choose_documents(round_, store, all_papers)
    papers = tuple(paper for paper in all_papers if paper.id in documents)
    if not papers:
        raise FolderError(f"no paper can be used, nothing was written ({extracted.line()})")
    material = Material(round_, store, papers, documents, split_dates(round_.split, papers), graph)
    return material, [crawled, on_graph, extracted, link_report(store, papers)]


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


def _write_settings(material: Material, place: Path, engine: Engine) -> tuple[list[Configuration], list[StageReport]]:
    """Cut, plan and write every writing task; the configurations, and a report for each task."""
    round_ = material.round_
    texts = round_.workspace / TEXTS
    try:
        pool = _cut(material, texts, engine)
        planned: dict[Setting, list[Planned]] = {}
        reports: list[StageReport] = []
        for task, settings in by_task(round_.chosen).items():
            started = time.perf_counter()
            samples, report = plan(pool, task, settings, engine)
            report.seconds = time.perf_counter() - started
            planned |= dict.fromkeys(settings, samples)
            reports.append(report)
        return write_settings(place, texts, planned, pool, material.dates, round_.round, engine), reports
    finally:
        texts.unlink(missing_ok=True)


def _cut(material: Material, texts: Path, engine: Engine) -> Pool:
    """The pool of the round, its papers' texts in a file."""
    round_, papers = material.round_, material.papers
    with TextsWriter(texts) as writer:
        cuts = cut_papers(
            progress(papers, "cut", len(papers)),
            material.documents,
            by_task(round_.chosen),
            round_.licenses,
            round_.samples,
            writer,
            engine,
        )
    return Pool(cuts, material.graph, round_.seed, round_.samples.min_citations, copies(papers))


def _write_questions(material: Material, place: Path) -> tuple[list[Configuration], list[StageReport]]:
    """Write the questions of every family that the round asks for."""
    written = [outcome for family in families() for outcome in family.write(material, place)]
    return [configuration for configuration, _ in written], [report for _, of_one in written for report in of_one]
