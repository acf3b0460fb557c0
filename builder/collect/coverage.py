"""Which rounds a workspace has been brought to, by a crawl or an update, and what that depended on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from builder.errors import RoundError, StoreError
from builder.round.model import Round
from builder.sources import Source
from builder.stage_report import StageReport
from builder.store import Store

# Of the store: what was done for each round.
_NOTE = "rounds"


@dataclass(frozen=True, slots=True)
class Covered:
    """A finished crawl or update.

    Attributes:
        last_day: the last day that was covered.
        settings: what the work depended on besides the round's name.
    """

    last_day: date
    report: StageReport
    settings: str = ""


def read_coverage(store: Store) -> dict[str, Covered]:
    """Round -> what was done for it."""
    return {
        name: Covered(date.fromisoformat(entry["last_day"]), StageReport.from_dict(entry["report"]), entry["settings"])
        for name, entry in (store.note(_NOTE) or {}).items()
    }


def crawl_report(round_: Round, store: Store) -> StageReport:
    """Read what the finished crawl, or update, of this round did; a StoreError if it was not finished."""
    done = read_coverage(store).get(round_.round)
    if done is None:
        raise StoreError(f"round {round_.round} has not been crawled yet; run `academiceval run round.toml`")
    return done.report


def added(round_: Round, store: Store) -> tuple[str, int] | None:
    """Return the workspace's round before this one, and how many papers this one added; None for a workspace's first round."""
    before = max((name for name in read_coverage(store) if name < round_.round), default=None)
    return (before, store.papers_since(round_.round)) if before else None


def finish(store: Store, round_: str, done: Covered) -> None:
    """Note that a round is done, and how many records of its papers had classes among their categories."""
    if with_classes := store.papers_with_classes(round_):
        done.report.mended["class"] = with_classes
    note = store.note(_NOTE) or {}
    note[round_] = {"last_day": done.last_day.isoformat(), "report": done.report.to_dict(), "settings": done.settings}
    store.set_note(_NOTE, note)


def forget(store: Store, round_: str) -> None:
    """Forget that a round is done, and those after it, which rest on it."""
    store.set_note(_NOTE, {name: entry for name, entry in (store.note(_NOTE) or {}).items() if name < round_})


def harvest_key(round_: Round, source: Source) -> str:
    """Return what taking every paper depends on: if that has changed, the papers are taken again."""
    return f"{source.fingerprint()} {round_.papers.model_dump_json()}"


def walk_shape(round_: Round) -> dict[str, object]:
    """Return what decides the order of the walk: it cannot change once the walk has begun."""
    crawl, papers = round_.crawl, round_.papers
    return {
        "crawl.seeds": list(crawl.seeds),
        "crawl.neighbours": crawl.neighbours,
        "crawl.activity_penalty": crawl.activity_penalty,
        "graph.max_authors": round_.graph.max_authors,
        "papers.categories": list(papers.categories),
        "papers.published_from": str(papers.published_from),
        "seed": round_.seed,
    }


def check_shape(round_: Round, store: Store) -> bool:
    """Tell whether the walk has begun; raises a RoundError if it began with other settings."""
    begun = store.note("crawl shape")
    if begun is None:
        return False
    for key, value in walk_shape(round_).items():
        if begun[key] != value:
            raise RoundError(
                f"the workspace {round_.workspace} was crawled with {key} = {begun[key]}, but round.toml says {value}: "
                "change it back, or name another `workspace`"
            )
    return True


def update_settings(round_: Round) -> str:
    """Return what a walk's update depends on besides its shape and its days."""
    return f"update.papers {round_.new_papers}, update.overlap_days {round_.update.overlap_days}"


def check_days(round_: Round, last_day: date, update: str = "") -> None:
    """Raise a RoundError if the round's walk, finished or not, is to other days than round.toml says now, or its update of another size.

    Args:
        update: as `update_settings` gives it; "" for a crawl.
    """
    said: dict[str, tuple[object, object]] = {"papers.published_to": (last_day, round_.last_day)}
    if update:
        said["update"] = (update, update_settings(round_))
    for key, (was, now) in said.items():
        if was != now:
            raise RoundError(
                f"round {round_.round} of the workspace {round_.workspace} was walked with {key} = {was}, but round.toml says {now}: "
                "change it back, or name another `workspace`"
            )


def status(round_: Round, store: Store) -> Iterator[str]:
    """Yield human-readable lines: counts, frontier, requests made, estimated time left, what is fetched beyond the round's own papers."""
    for name, count in store.counts().items():
        yield f"{name}: {count}"
    for name, done in sorted(read_coverage(store).items()):
        yield f"round {name}: covered to {done.last_day}"
    requests = store.answers.requests()
    for host, (n, seconds) in sorted(requests.items()):
        yield f"requests to {host}: {n} in {seconds:.0f} s"
    visited, waiting = store.frontier.counts()
    if visited + waiting:
        yield f"frontier: {visited} authors visited, {waiting} waiting"
    left = min(waiting, max(0, round_.crawl.authors - visited))
    if left and round_.round not in read_coverage(store):
        # The average time of a visit, waiting included; before the first one, the delay that politeness asks for.
        spent = sum(seconds for _, seconds in requests.values())
        each = spent / visited if visited and spent else (round_.source.seconds_between_requests if requests else 0.0)
        yield f"left of the crawl: {left} authors, about {left * each / 60:.0f} min"
    for family, most in (("SCALAR", round_.scalar.fetched), ("Match", round_.reading.fetched)):
        if most and round_.source.LIVE:
            hours = most * round_.source.seconds_between_requests / 3600
            yield f"cited papers to fetch for {family}: at most {most}, {hours:.1f} h"
