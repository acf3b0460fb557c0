"""The stages in a row: a round over a workspace -> a finished dataset folder."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from builder.citations.link import link_papers, link_report, link_ways, unresolved_examples
from builder.collect.crawl import crawl, crawl_report
from builder.collect.graph import CoAuthorGraph, build_graph
from builder.collect.license_lookup import learn_licenses
from builder.collect.update import months_before, update
from builder.dataset import folder
from builder.dataset.audit import audit, check
from builder.dataset.card import Built, close_all, file_table, split_table
from builder.dataset.fill import fill
from builder.dataset.frozen_core import carry
from builder.dataset.overview import card
from builder.dataset.write import SplitWriter
from builder.errors import FolderError
from builder.extract.stage import EXTRACTOR, choose_documents, extract_papers
from builder.extract.summary import summarise
from builder.progress import progress
from builder.records import SPLITS, Paper
from builder.report import StageReport
from builder.round.model import Round
from builder.round.settings import Setting, by_task
from builder.samples import plan
from builder.samples.near_duplicates import copies
from builder.samples.split import Cut, cut_dates
from builder.samples.tokens import TokenCounter
from builder.scalar.stage import build_levels, read_cited
from builder.sources.registry import open_source
from builder.store import Store

STORE = "store.sqlite3"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: the folder, its settings with their statistics, what every stage did, how well files were read."""

    output: Path
    built: tuple[Built, ...]
    reports: tuple[StageReport, ...]
    reading: dict[str, Any]
    links: dict[str, int]


def run(round_: Round, jobs: int, *, replace: bool = False) -> Outcome:
    """All stages, each going on where an earlier call stopped."""
    prepared = prepare(round_, jobs)
    outcome = build(round_, replace=replace)
    for report, timed in zip(outcome.reports, prepared, strict=False):
        report.seconds = timed.seconds
    return outcome


def link_only(round_: Round, jobs: int) -> tuple[list[StageReport], dict[str, int], list[str]]:
    """The stages before the build; the links by way, and examples of what stayed unresolved."""
    reports = prepare(round_, jobs)
    with Store.open(round_.workspace / STORE) as store:
        papers = _papers(store, _graph(round_, store)[0])
        documents, _ = choose_documents(round_, store, papers)
        return reports, link_ways(store, papers), unresolved_examples(store, papers, documents)


def fill_only(round_: Round, source: Path, output: Path, jobs: int) -> StageReport:
    """Complete a publishable copy with the round's workspace and source."""
    with Store.open(round_.workspace / STORE) as store:
        return fill(source, output, round_, open_source(round_, store), store, jobs)


def prepare(round_: Round, jobs: int) -> list[StageReport]:
    """The stages before the build: crawl, graph, extraction, links."""
    with Store.open(round_.workspace / STORE) as store:
        source = open_source(round_, store)
        crawled = crawl(round_, source, store)
        graph, on_graph = _graph(round_, store)
        papers = learn_licenses(source, store, _papers(store, graph))
        started = time.perf_counter()
        extract_papers(round_, source, store, papers, jobs)
        documents, extracted = choose_documents(round_, store, papers)
        extracted.seconds = time.perf_counter() - started
        linked = link_papers(round_, source, store, papers, documents)
        with_text = [paper for paper in papers if paper.id in documents]
        read_cited(round_, source, store, with_text, documents, cut_dates(round_.split, with_text), jobs)
        return [crawled, on_graph, extracted, linked]


def update_only(round_: Round) -> tuple[CoAuthorGraph, list[StageReport]]:
    """The update in place of the crawl."""
    with Store.open(round_.workspace / STORE) as store:
        updated = update(round_, open_source(round_, store), store)
        graph, on_graph = _graph(round_, store)
        return graph, [updated, on_graph]


def crawl_only(round_: Round) -> tuple[CoAuthorGraph, list[StageReport]]:
    """The first two stages."""
    with Store.open(round_.workspace / STORE) as store:
        crawled = crawl(round_, open_source(round_, store), store)
        graph, on_graph = _graph(round_, store)
        return graph, [crawled, on_graph]


def build(round_: Round, *, replace: bool = False) -> Outcome:
    """Write the dataset folder from what the workspace holds; the source is not asked again.

    Args:
        replace: whether the folder may take the place of one of the same round with other contents.

    Raises:
        AuditError: the audit found more than the round allows.
        StoreError: an earlier stage was not finished.
        FolderError: the output is something else's, or not one sample came about.
    """
    with Store.open(round_.workspace / STORE) as store:
        crawled = crawl_report(round_, store)
        graph, on_graph = _graph(round_, store)
        papers = _papers(store, graph)
        documents, extracted = choose_documents(round_, store, papers)
        papers = [paper for paper in papers if paper.id in documents]
        if not papers:
            raise FolderError(f"not one paper can be used, nothing was written ({extracted.line()})")
        reports = [crawled, on_graph, extracted, link_report(store, papers)]
        reading = summarise(documents, [paper.id for paper in papers])
        links = link_ways(store, papers)
        cut = cut_dates(round_.split, papers)
        with folder.replacing(round_.output) as place:
            texts = plan.Texts(store, documents)
            counter = TokenCounter()
            built, sampled = _settings(place, round_, texts, papers, graph, cut, counter)
            _check_samples(built, sampled, cut)
            reports += sampled
            found = audit(place, [file.path for one in built for split in SPLITS for file in one.files[split]])
            check(found, round_.audit)
            levels, asked = build_levels(place, round_, store, papers, documents, cut, counter)
            built += levels
            reports += asked
            carried, core = carry(round_, place, round_.chosen)
            built += carried
            manifest = _manifest(round_, built, reports, reading, links, cut)
            manifest |= {"audit": found.to_dict(), **({"core": core} if core else {})}
            (place / "README.md").write_text(card(manifest, built), encoding="utf-8")
            folder.write_manifest(place, manifest)
            folder.refuse_other_contents(place, round_.output, replace)
    return Outcome(round_.output, tuple(built), tuple(reports), reading, links)


def _graph(round_: Round, store: Store) -> tuple[CoAuthorGraph, StageReport]:
    started = time.perf_counter()
    window = round_.papers
    papers = store.pool_papers(round_.round, window.categories, window.published_from, window.published_to)
    pruning = round_.update
    graph, report = build_graph(
        papers,
        round_.graph.max_authors,
        round_.graph.component,
        members=store.frontier.members(round_.round) if round_.crawl.seeds else None,
        papers_from=_months_back(round_, pruning.max_age_months),
        active_from=_months_back(round_, pruning.inactive_months),
    )
    report.seconds = time.perf_counter() - started
    return graph, report


def _check_samples(built: Sequence[Built], sampled: Sequence[StageReport], cut: Cut) -> None:
    """A FolderError where there is nothing to test on."""
    if not any(one.samples for one in built):
        lines = "; ".join(report.line() for report in sampled)
        raise FolderError(f"no paper became a sample of any setting, nothing was written ({lines})")
    for one in built:
        if one.samples and not one.statistics["test"].samples:
            raise FolderError(
                f"the test split of {one.setting.name} is empty ({one.samples} samples, test from {cut.test_from}): "
                "begin it earlier in `split`, nothing was written"
            )


def _months_back(round_: Round, months: int | None) -> date:
    return date.min if months is None else months_before(round_.last_day, months)


def _papers(store: Store, graph: CoAuthorGraph) -> list[Paper]:
    """The papers on the graph, by id."""
    return list(store.papers(sorted(id_ for ids in graph.papers.values() for id_ in ids)))


def _settings(
    place: Path,
    round_: Round,
    texts: plan.Texts,
    papers: Sequence[Paper],
    graph: CoAuthorGraph,
    cut: Cut,
    counter: TokenCounter,
) -> tuple[list[Built], list[StageReport]]:
    """Plan and write every task; the settings, and a report for each task."""
    by_id = {paper.id: paper for paper in papers}
    copied = copies(papers)
    built: list[Built] = []
    reports: list[StageReport] = []
    for task, settings in by_task(round_.chosen).items():
        started = time.perf_counter()
        planned, report = plan.plan(round_, task, settings, papers, graph, texts, counter, copied)
        built += _write(place, round_, settings, planned, by_id, cut, texts, counter)
        report.seconds = time.perf_counter() - started
        reports.append(report)
    return built, reports


def _write(
    place: Path, round_: Round, settings: Sequence[Setting], planned: Sequence[plan.Planned],
    by_id: dict[str, Paper], cut: Cut, texts: plan.Texts, counter: TokenCounter,
) -> list[Built]:  # fmt: skip
    """Write all settings of one task side by side, so that each paper's texts are put together once."""
    writers = {
        (setting.name, split): SplitWriter(place, setting, split, round_.round, counter)
        for setting in settings
        for split in SPLITS
    }
    for one in progress(planned, f"write {settings[0].task}", len(planned)):
        split = cut.split_of(one.paper)
        for setting in settings:
            writers[setting.name, split].add(plan.assemble(one, setting, by_id, texts))
    return [close_all(setting, {split: writers[setting.name, split] for split in SPLITS}) for setting in settings]


def _manifest(
    round_: Round,
    built: Sequence[Built],
    reports: Sequence[StageReport],
    reading: dict[str, Any],
    links: dict[str, int],
    cut: Cut,
) -> dict[str, Any]:
    return {
        "round": round_.round,
        "seed": round_.seed,
        "config": round_.config(),
        "code_version": importlib.metadata.version("academiceval"),
        "extractor": EXTRACTOR,
        "split": {"validation_from": cut.validation_from.isoformat(), "test_from": cut.test_from.isoformat()},
        "files": file_table(built),
        "statistics": split_table(built),
        "extraction": reading,
        "links": links,
        "reports": [report.to_dict() for report in reports],
    }
