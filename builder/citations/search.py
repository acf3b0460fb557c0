"""Searching the source for cited titles that nothing else resolves: several per request, each only once.

What a search finds goes into the store, where every later look-up finds it. The other titles of its request are not asked for
again either, unless none of them was found: such an answer may be a failure of the server, and a later round asks again. Each
round limits the number of its titles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from builder.citations.resolve import resolve_entry
from builder.records import Paper, Reference
from builder.sources.base import TITLES_AT_ONCE, Source
from lm_eval_tasks.base.batches import batches
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.base.waiting import announce

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.store import Store

# Letters and digits of a title: a shorter one finds too much, a longer one was not read well.
_SHORTEST, _LONGEST = 20, 250
# What the store remembers about a title: that the round has searched for it, that it need not be searched for again,
# that it was found.
_ASKED, _ANSWERED, _FOUND = "title asked ", "title answered ", "title found "
# The store's note on a search under way: round, titles asked for, titles to ask for.
_NOTE = "title searches"


def was_found(store: Store, entry: Reference) -> bool:
    """Whether a search has brought the record that fits an entry."""
    return store.was_asked(_FOUND + title_key(entry.title))


def search_titles(
    round_: Round,
    source: Source,
    store: Store,
    papers: Sequence[Paper],
    entries: Callable[[Paper], Iterable[Reference]],
) -> None:
    """Search for the unresolved titles among the papers' entries, as many as the round still allows.

    Everything found is counted together at the end: a search that was killed starts over, using the answers that the
    source has kept.
    """
    left = round_.link.searches - store.times_asked(_ASKED, round_.round)
    if left <= 0:
        return
    searched = progress(papers, "unresolved titles", len(papers))
    titles = dict(islice(_unresolved(round_, store, searched, entries), left))
    records: list[Paper] = []
    answered: list[str] = []
    parts = batches(list(titles), TITLES_AT_ONCE)
    if parts and round_.source.LIVE:
        minutes = len(parts) * round_.source.seconds_between_requests / 60
        announce(f"searching for {len(titles)} cited titles: {len(parts)} requests, at least {minutes:.0f} min")
    for i, batch in enumerate(progress(parts, "title searches", len(parts))):
        store.set_note(_NOTE, [round_.round, i * TITLES_AT_ONCE, len(titles)])
        hits = [item for item in source.search_titles([titles[key] for key in batch]) if isinstance(item, Paper)]
        records += hits
        answered += [_ANSWERED + key for key in batch if hits]
        answered += [_FOUND + key for key in batch if any(title_key(hit.title).startswith(key) for hit in hits)]
    with store.transaction():
        store.add_batch(records, since="", look_up=False)
        store.note_asked([*(_ASKED + key for key in titles), *answered], round_.round)
        store.titles.update()
        store.set_note(_NOTE, None)


def _unresolved(
    round_: Round, store: Store, papers: Iterable[Paper], entries: Callable[[Paper], Iterable[Reference]]
) -> Iterator[tuple[str, str]]:
    """(key, title) of what may be searched for, each once."""
    seen: set[str] = set()
    for paper in papers:
        for entry in entries(paper):
            key = title_key(entry.title)
            was_asked = store.was_asked(_ASKED + key, round_.round) or store.was_asked(_ANSWERED + key)
            if was_asked or key in seen or not _SHORTEST <= len(key) <= _LONGEST:
                continue
            if resolve_entry(store, paper, entry).how == "unresolved":
                seen.add(key)
                yield key, entry.title


def search_status(round_: Round, store: Store) -> Iterator[str]:
    """Human-readable lines: how many titles the round has searched for, and what is left of a search under way."""
    if searched := store.times_asked(_ASKED, round_.round):
        yield f"cited titles searched for: {searched} of at most {round_.link.searches} in a round"
    note = store.note(_NOTE)
    if isinstance(note, list) and note[0] == round_.round:
        requests = -(-(note[2] - note[1]) // TITLES_AT_ONCE)
        count, seconds = map(sum, zip((0, 0.0), *store.answers.requests().values(), strict=True))
        each = seconds / count if count else round_.source.seconds_between_requests
        yield f"left of the title searches: {requests} requests of {TITLES_AT_ONCE} titles, about {requests * each / 60:.0f} min"
