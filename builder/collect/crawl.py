"""Stage 1: records of the source -> papers of the store.

Paper -> store. Without seeds every paper of the source that belongs to the round is taken; with seeds the co-author
graph is walked breadth-first from them (section 3.1 of the AcademicEval paper). Drop reasons: bad_record, withdrawn,
outside_window, other_category; after an update also no_graph_author.
"""

from collections.abc import Iterator
from datetime import date

from builder.collect.admission import first_authored, harvest, sort_out, visit
from builder.collect.coverage import (
    Covered,
    check_days,
    check_shape,
    finish,
    forget,
    harvest_key,
    read_coverage,
    walk_shape,
)
from builder.errors import RoundError
from builder.ids import author_key
from builder.records import Paper
from builder.round.model import Round
from builder.sources import Source
from builder.sources.metadata_file import file_fingerprint, read_metadata
from builder.store import Author, Store
from lm_eval_tasks.base.progress import progress

# Of the store: the last day of the walk that has begun.
_DAYS = "crawl last day"


def crawl(round_: Round, source: Source, store: Store) -> None:
    """Take the round's papers into the store; what an earlier call did is not done again.

    Raises:
        RoundError: a seed author is not known or has no paper to start from, the workspace was crawled with
            other settings, or no paper of the source belongs to the round.
    """
    if round_.crawl.seeds:
        _walk(round_, source, store)
    else:
        _take_all(round_, source, store)


# --- without seeds


def _take_all(round_: Round, source: Source, store: Store) -> None:
    if store.note("crawl shape") is not None:
        raise RoundError(
            f"the workspace {round_.workspace} was walked from seeds: put `crawl.seeds` back, or name another `workspace`"
        )
    settings = harvest_key(round_, source)
    previous = read_coverage(store).get(round_.round)
    if previous is not None and previous.settings == settings:
        return
    # What a service has grows while it is asked; papers on a disk were put there for this round.
    last_day = round_.last_day if round_.source.LIVE else round_.papers.published_to
    days = (round_.papers.published_from, last_day)
    forget(store, round_.round)
    report = harvest(round_, source, store, days, stage="crawl", since=round_.round)
    if not report.kept:
        if report.dropped.get("other_category"):
            raise RoundError(
                f"no paper of the source has the primary category {', '.join(round_.papers.categories)}; "
                "correct `papers.categories` in round.toml"
            )
        raise RoundError(
            f"the source has no paper for this round ({report.line()}); check its metadata (of PDFs, titles and days in their table) and "
            "the `papers` window"
        )
    finish(store, round_.round, Covered(round_.last_day, report, settings))


# --- from seeds


def _walk(round_: Round, source: Source, store: Store) -> None:
    done = read_coverage(store)
    if round_.round in done:
        check_shape(round_, store)
        covered = done[round_.round]
        check_days(round_, covered.last_day, covered.settings if covered.report.stage == "update" else "")
        # Higher limits let a finished crawl go on from where it stopped.
        if covered.settings == _limits(round_) or covered.report.stage != "crawl":
            return
    if set(done) - {round_.round}:
        raise RoundError(
            f"the workspace contains the graph of round {max(done)}, which covers {done[max(done)].last_day}: give a later round, or "
            "name another `workspace`"
        )
    store.answers.forget_other_rounds(round_.round)
    _begin(round_, source, store)
    for _ in progress(_visits(round_, source, store), "crawl", round_.crawl.authors):
        pass
    report = store.frontier.report("crawl", round_.round, store.papers_since(round_.round))
    finish(store, round_.round, Covered(round_.last_day, report, _limits(round_)))


def _limits(round_: Round) -> str:
    return f"authors {round_.crawl.authors}, papers {round_.crawl.papers}"


def _begin(round_: Round, source: Source, store: Store) -> None:
    """Check the seeds and admit them; all of them or none."""
    if check_shape(round_, store):
        if last_day := store.note(_DAYS):
            check_days(round_, date.fromisoformat(last_day))
        return
    seeds = []
    for name in round_.crawl.seeds:
        key = author_key(name)
        papers, _ = sort_out(round_, source.by_author(name, round_.papers.published_from, round_.last_day))
        if not papers:
            raise RoundError(f"the source has no paper of the seed author {name!r} in the round's window")
        if not first_authored(papers, key):
            raise RoundError(
                f"the seed author {name!r} has no first-author paper in the round's window ({len(papers)} as co-author); "
                "name another seed, or begin `papers.published_from` earlier"
            )
        seeds.append(Author(key, name))
    with store.transaction():
        store.frontier.admit(seeds, round_.round)
        store.set_note("crawl shape", walk_shape(round_))
        store.set_note(_DAYS, round_.last_day.isoformat())


def _visits(round_: Round, source: Source, store: Store) -> Iterator[Author]:
    """Visit authors until a limit is reached or none is waiting."""
    visited, _ = store.frontier.counts()
    first_author = store.first_author_papers(round_.round)
    limits = round_.crawl
    while visited < limits.authors and (limits.papers is None or first_author < limits.papers):
        author = store.frontier.next(round_.round)
        if author is None:
            return
        items = source.by_author(author.name, round_.papers.published_from, round_.last_day)
        first_author += visit(round_, store, author, items, store.frontier.visit)
        visited += 1
        yield author


def add_reference_records(round_: Round, store: Store) -> None:
    """Take the records that round.toml names for references alone; they are of no round."""
    for path in round_.source.references:
        key = f"references {file_fingerprint(path)}"
        if store.note(key) is None:
            records = (item for item in progress(read_metadata(path), "references") if isinstance(item, Paper))
            store.add_papers(records, since="", look_up=False)
            store.set_note(key, True)
