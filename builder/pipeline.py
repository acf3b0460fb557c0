"""The stages in order: a round over a workspace -> a finished dataset folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from builder.citations.link import link_papers, link_report, link_ways
from builder.collect.coverage import crawl_report
from builder.collect.crawl import add_reference_records, crawl
from builder.collect.update import is_update, update
from builder.dataset import folder
from builder.dataset.audit import audit, check
from builder.dataset.publishable import shown_papers
from builder.extract.stage import EXTRACTOR, extract_papers, summarise
from builder.families import registry as families
from builder.sources.tokenizer import token_counter
from builder.stage_report import STAGES, Stage, StageReport
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.llm.weights import minilm_path

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.sources import Source
    from builder.store import Store
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine


# --- the stages before the build


def stages(workspace: Workspace, engine: Engine, wanted: Sequence[Stage] = STAGES) -> Iterator[StageReport]:
    """Crawl with its graph, extraction, links: the report of each as soon as it has ended; each resumes where it stopped.

    Raises:
        StoreError: an earlier stage is not among those wanted and was not finished.
    """
    round_, store = workspace.round_, workspace.store
    if round_.scalar.embed_local:
        minilm_path("shortcut")
    source = workspace.source
    if "crawl" in wanted:
        yield collect(round_, source, store)
        yield workspace.graph.report
    if "extract" in wanted:
        started = time.perf_counter()
        workspace.on_graph = workspace.with_licenses(workspace.on_graph)
        extract_papers(round_, source, store, workspace.on_graph, engine)
        workspace.documents.report.seconds = time.perf_counter() - started
        yield workspace.documents.report
    if "link" in wanted:
        linked = link_papers(round_, source, store, workspace.papers, workspace.documents)
        families.prepare(workspace, engine)
        workspace.forget_papers()
        yield linked


def collect(round_: Round, source: Source, store: Store) -> StageReport:
    """Take the round's papers into the store; what an earlier call did is not done again.

    A workspace that has an earlier round is brought up to this one: only what is new is asked for.

    Raises:
        RoundError: nothing can be taken, see `collect.crawl`.
    """
    started = time.perf_counter()
    if is_update(round_, source, store):
        update(round_, source, store)
    else:
        crawl(round_, source, store)
    add_reference_records(round_, store)
    report = crawl_report(round_, store)
    report.seconds = time.perf_counter() - started
    return report


# --- the build


def build(workspace: Workspace, engine: Engine, *, replace: bool = False) -> tuple[Manifest, tuple[StageReport, ...]]:
    """Write the dataset folder from the contents of the workspace; the source is not asked again.

    Returns:
        The manifest, and what the build's own stages did.

    Args:
        replace: whether the folder may take the place of one of the same round with other contents.

    Raises:
        AuditError: the audit found more than the round allows.
        StoreError: an earlier stage was not finished.
        FolderError: the output is not ours, or no sample was produced.
    """
    round_, papers = workspace.round_, workspace.papers
    before = (
        crawl_report(round_, workspace.store),
        workspace.graph.report,
        workspace.documents.report,
        link_report(workspace.store, papers),
    )
    token_counter()  # nothing can begin without its tokenizer
    if round_.scalar.embed_local:
        minilm_path("shortcut")
    with folder.replacing(round_.output) as draft:
        written = list(families.write(workspace, draft, engine))
        configurations = tuple(configuration for configuration, _ in written)
        reports = tuple(report for _, of_configuration in written for report in of_configuration)
        findings = audit(draft, configurations, engine)
        check(findings, round_.audit)
        manifest = Manifest(
            round=round_.round,
            code_version=version("academiceval"),
            configurations=configurations,
            reports=tuple(report.counts() for report in (*before, *reports)),
            seed=round_.seed,
            config=round_.config(),
            source=round_.source.kind,
            allowed=round_.audit.model_dump(mode="json"),
            changes=round_.changes,
            core=tuple(folder.core_of(configurations)),
            extractor=EXTRACTOR,
            split=workspace.dates,
            reading=summarise(workspace.documents, round_.source.FILES),
            links=link_ways(workspace.store, papers),
            audit=findings,
            other_ids=workspace.store.other_ids(sorted(shown_papers(draft, configurations))),
        )
        finished = folder.finish(draft, manifest)
        if not replace:
            folder.refuse_other_contents(finished, round_.output)
    return finished, reports


def is_as_built(workspace: Workspace, earlier: str) -> bool:
    """Tell whether a round without new papers would give what the folder of an earlier one is: whole, made by this release and the same
    settings, of papers that do not age, that were read as now and cite the same.
    """
    round_ = workspace.round_
    ages = (round_.max_age_months, round_.inactive_months)
    if not (round_.output / MANIFEST).is_file() or any(age is not None for age in ages):
        return False
    built = read_manifest(round_.output)
    made_by = (built.round, built.code_version, built.extractor)
    beside = built.allowed == round_.audit.model_dump(mode="json") and built.changes == round_.changes
    has_same_settings = beside and {**built.config, "round": ""} == {**round_.config(), "round": ""}
    is_ours = made_by == (earlier, version("academiceval"), EXTRACTOR)
    if not (is_ours and has_same_settings) or any(folder.file_differences(round_.output, built)):
        return False
    # What a file or the source lacked may be there by now.
    documents, links = workspace.documents, link_ways(workspace.store, workspace.papers)
    read = summarise(documents, round_.source.FILES), documents.report.counts()
    return (built.reading, built.links) == (read[0], links) and read[1] in built.reports
