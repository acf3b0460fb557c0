"""Stage 4: reference lists -> the citation corpus: which cited works are known papers.

Document -> Link. Only the entries cited in the related-work section are resolved (for SCALAR, all cited entries): by
the arXiv id or DOI that an entry carries, else by its title among all records of the store; ids that the store lacks
are fetched in batches; a search for the title comes last. A paper is linked once for each document
and each version of this code, so a store that has grown since does not change an older round. Entries that stay
unresolved are counted, not dropped; the sample stage decides whether enough are left. Drop reasons (of references):
ambiguous, unresolved.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import get_args

from builder.citations.resolve import Resolved, ids_of, resolve_entry
from builder.extract.sections import cited_in_related_work
from builder.extract.stage import EXTRACTOR, Documents
from builder.ids import PaperId
from builder.records import Document, Link, LinkReason, LinkWay, Paper, Reference
from builder.round.model import Round
from builder.sources import TITLES_AT_ONCE, Source
from builder.sources.metadata_file import file_fingerprint
from builder.stage_report import StageReport
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.progress import announce, batches, progress
from lm_eval_tasks.base.text import title_key

# Raise with every change that can affect a link.
LINKER = "5"
_LOST = get_args(LinkReason)
# Letters and digits of a title: a shorter one finds too much, a longer one was not read well.
_SHORTEST, _LONGEST = 20, 250
# What the store remembers about a title: that the round has searched for it, that it need not be searched for again,
# that it was found.
_ASKED, _ANSWERED, _FOUND = "title asked ", "title answered ", "title found "
# The store's note on a search under way: round, titles asked for, titles to ask for.
_NOTE = "title searches"


def link_papers(
    round_: Round, source: Source, store: Store, papers: Sequence[Paper], documents: Documents
) -> StageReport:
    """Resolve the related-work citations of papers, each of which has a document."""
    started = time.perf_counter()
    keys = {paper.id: _key(round_, documents, paper) for paper in papers}
    todo = [paper for paper in papers if store.linked_by(paper.id) != keys[paper.id]]
    with store.transaction():
        store.titles.update()
    if round_.link.fetch:
        _fetch_cited(round_, source, store, todo, documents)
    _search_titles(round_, source, store, todo, documents)
    for paper in progress(todo, "link", len(todo)):
        links = list(_resolve(round_, store, paper, documents[paper.id]))
        with store.transaction():
            store.put_links(paper.id, links, keys[paper.id])
    report = link_report(store, papers)
    report.seconds = time.perf_counter() - started
    return report


def link_report(store: Store, papers: Iterable[Paper]) -> StageReport:
    """Return how many references were resolved; this report counts references, not papers."""
    report = StageReport("link")
    for paper in papers:
        for link in store.links(paper.id):
            if link.how in _LOST:
                report.drop(f"{paper.id}#{link.reference + 1}", link.how)
            else:
                report.kept += 1
    return report


def cited_entries(round_: Round, document: Document) -> list[int]:
    """Return the indices of the entries to resolve: those of the related work, or all cited ones if the round asks about citations
    anywhere.
    """
    related = cited_in_related_work(document)
    if not round_.asks_about_citations:
        return related
    return list(dict.fromkeys([*related, *(i for mention in document.mentions for i in mention.references)]))


def _entries(round_: Round, document: Document) -> list[Reference]:
    return [document.references[index] for index in cited_entries(round_, document)]


def _key(round_: Round, documents: Documents, paper: Paper) -> str:
    """Return what a paper's links depend on besides the store."""
    file_type = documents.kinds[paper.id]
    given = [
        LINKER,
        EXTRACTOR,
        file_type,
        documents.store.read_file(paper.id, file_type, EXTRACTOR),
        round_.link.model_dump(),
        [file_fingerprint(path) for path in round_.source.references],
        *(["all"] if round_.asks_about_citations else []),
    ]
    return sha256_of_bytes(json.dumps(given))


def _fetch_cited(round_: Round, source: Source, store: Store, papers: Sequence[Paper], documents: Documents) -> None:
    """Fetch the records of cited papers that the store lacks, or has without an abstract, in batches."""
    missing: set[str] = set()
    for paper in progress(papers, "cited ids", len(papers)):
        for entry in _entries(round_, documents[paper.id]):
            cited = resolve_entry(store, paper, entry).paper
            askable = (id_.bare for id_ in ids_of(entry) if id_.kind in round_.source.IDS)
            if cited is None and (name := next(askable, None)) and not store.knows(name):
                missing.add(name)
            elif cited is not None and not cited.abstract and _is_askable(cited.id, round_):
                missing.add(cited.id)
    unasked = [name for name in sorted(missing) if not store.was_asked(f"id {name}", round_.round)]
    fetched = (item for item in progress(source.by_ids(unasked), "cited papers") if isinstance(item, Paper))
    store.add_papers(fetched, since="", look_up=False)
    with store.transaction():
        store.note_asked((f"id {name}" for name in unasked if not store.knows(name)), round_.round)
        store.titles.update()


def _is_askable(id_: str, round_: Round) -> bool:
    """Tell whether the round's source knows papers by ids of this kind."""
    parsed = PaperId.parse(id_)
    return parsed is not None and parsed.kind in round_.source.IDS


def _resolve(round_: Round, store: Store, paper: Paper, document: Document) -> Iterator[Link]:
    """Resolve a paper's citations; a work that two entries name is linked once."""
    seen: set[str] = set()
    for index in cited_entries(round_, document):
        entry = document.references[index]
        resolved = resolve_entry(store, paper, entry)
        if resolved.how in ("title", "near_title") and store.was_asked(_FOUND + title_key(entry.title)):
            resolved = replace(resolved, how="search")
        if resolved.paper is not None and not resolved.paper.abstract:
            # Without an abstract there is nothing to show to a model.
            resolved = Resolved(None, "unresolved", 0.0)
        name = resolved.paper.id if resolved.paper else ""
        if name not in seen:
            seen.update({name} - {""})
            yield Link(paper.id, index, name, resolved.how, resolved.score)


def link_ways(store: Store, papers: Iterable[Paper]) -> dict[str, int]:
    """Return how many citations were resolved in each way, or stayed unresolved."""
    counts = Counter(link.how for paper in papers for link in store.links(paper.id))
    return {way: counts[way] for way in get_args(LinkWay) if counts[way]}


def unresolved_examples(store: Store, papers: Iterable[Paper], documents: Documents, most: int = 10) -> list[str]:
    """Return some of the entries that stayed unresolved or ambiguous, as printed."""
    lost = (
        f"{link.how} {paper.id}: {documents[paper.id].references[link.reference].raw[:140]}"
        for paper in papers
        for link in store.links(paper.id)
        if link.how in _LOST
    )
    return list(islice(lost, most))


# --- searching the source for cited titles that nothing else resolves: several per request, each only once
#
# What a search finds goes into the store, where every later look-up finds it. The other titles of its request are not asked
# for again either, unless none of them was found: such an answer may be a failure of the server, and a later round asks again.


def _search_titles(round_: Round, source: Source, store: Store, papers: Sequence[Paper], documents: Documents) -> None:
    """Search for the unresolved titles among the papers' entries, as many as the round still allows.

    Everything found is counted together at the end: a search that was killed starts over, using the answers that the
    source has kept.
    """
    left = round_.link.searches - store.times_asked(_ASKED, round_.round)
    if left <= 0:
        return
    titles = dict(
        islice(_unresolved(round_, store, progress(papers, "unresolved titles", len(papers)), documents), left)
    )
    records: list[Paper] = []
    answered: list[str] = []
    batched = batches(list(titles), TITLES_AT_ONCE)
    if batched and round_.source.LIVE:
        minutes = len(batched) * round_.source.seconds_between_requests / 60
        announce(f"searching for {len(titles)} cited titles: {len(batched)} requests, at least {minutes:.0f} min")
    for i, batch in enumerate(progress(batched, "title searches", len(batched))):
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
    round_: Round, store: Store, papers: Iterable[Paper], documents: Documents
) -> Iterator[tuple[str, str]]:
    """Yield (key, title) of what may be searched for, each once."""
    seen: set[str] = set()
    for paper in papers:
        for entry in _entries(round_, documents[paper.id]):
            key = title_key(entry.title)
            was_asked = store.was_asked(_ASKED + key, round_.round) or store.was_asked(_ANSWERED + key)
            is_open = not was_asked and key not in seen and _SHORTEST <= len(key) <= _LONGEST
            if is_open and resolve_entry(store, paper, entry).how == "unresolved":
                seen.add(key)
                yield key, entry.title


def search_status(round_: Round, store: Store) -> Iterator[str]:
    """Yield human-readable lines: how many titles the round has searched for, and what is left of a search under way."""
    if searched := store.times_asked(_ASKED, round_.round):
        yield f"cited titles searched for: {searched} of at most {round_.link.searches} in a round"
    note = store.note(_NOTE)
    if isinstance(note, list) and note[0] == round_.round:
        requests = -(-(note[2] - note[1]) // TITLES_AT_ONCE)
        count, seconds = map(sum, zip((0, 0.0), *store.answers.requests().values(), strict=True))
        each = seconds / count if count else round_.source.seconds_between_requests
        yield f"left of the title searches: {requests} requests of {TITLES_AT_ONCE} titles, about {requests * each / 60:.0f} min"
