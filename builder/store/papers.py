"""The tables of papers and their authors. Row numbers never leave them: what comes out is ordered by arXiv id."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

from builder.ids import PaperId, author_key
from builder.records import Authorship, Paper
from builder.store.tables import GONE, Tables
from lm_eval_tasks.base.text import title_key

_NOTE = "authors indexed"
_PAPERS_AT_ONCE = 100_000
_ROWS_AT_ONCE = 200


class PaperTables(Tables):
    """What a store knows about papers. A paper is in the pool, from which samples are drawn, since some round."""

    def add_batch(self, batch: Sequence[Paper], *, since: str, look_up: bool = True) -> None:
        """Do as `add_papers` does, inside a transaction of the caller."""
        self._db.executemany(
            "INSERT INTO papers (id, version, title, abstract, authors, n_authors, categories, published, updated, "
            "license, title_key, since, doi, first_key, look_up, author_ids, other_ids, classes) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
            "ON CONFLICT (id) DO UPDATE SET author_ids=excluded.author_ids, other_ids=excluded.other_ids, classes=excluded.classes, "
            "first_key=excluded.first_key, look_up=max(look_up, excluded.look_up), "
            "version=excluded.version, title=excluded.title, authors=excluded.authors, n_authors=excluded.n_authors, "
            "abstract=CASE WHEN excluded.abstract = '' THEN abstract ELSE excluded.abstract END, "
            "categories=excluded.categories, published=excluded.published, updated=excluded.updated, "
            "license=CASE WHEN excluded.license = 'unknown' THEN license ELSE excluded.license END, "
            "doi=CASE WHEN excluded.doi = '' THEN doi ELSE excluded.doi END, "
            "title_key=excluded.title_key, since=CASE WHEN since = '' THEN excluded.since "
            "WHEN excluded.since = '' THEN since ELSE min(since, excluded.since) END "
            # What was only looked up may be of a later version than the file that the pool has, or the source.
            "WHERE (since = '' AND (excluded.since <> '' OR look_up < excluded.look_up)) "
            "OR (excluded.version >= version AND (excluded.since <> '' OR since = '' OR abstract = ''))",
            (
                (
                    p.id,
                    p.version,
                    p.title,
                    p.abstract,
                    json.dumps(p.authors, ensure_ascii=False),
                    len(p.authors),
                    " ".join(p.categories),
                    p.published.isoformat(),
                    p.updated.isoformat(),
                    p.license,
                    title_key(p.title),
                    since,
                    p.doi,
                    author_key(p.authors[0]),
                    int(look_up),
                    json.dumps(p.author_ids),
                    json.dumps(p.other_ids),
                    " ".join(p.classes),
                )
                for p in batch
            ),
        )
        # As the records have them now, which need not be those of this batch.
        self._db.executemany("DELETE FROM other_ids WHERE id = ?", ((p.id,) for p in batch))
        self._db.executemany(
            "INSERT OR IGNORE INTO other_ids SELECT each.value, papers.id FROM papers, json_each(papers.other_ids) AS each "
            "WHERE papers.id = ?",
            ((p.id,) for p in batch),
        )

    def forget(self, ids: Iterable[str]) -> None:
        """Remove records that were only looked up, so that they are asked for again; papers of the pool stay. Inside a transaction
        of the caller.
        """
        for id_ in ids:
            if row := self._db.execute("SELECT pid FROM papers WHERE id = ? AND since = ''", (id_,)).fetchone():
                self._db.execute("DELETE FROM papers WHERE pid = ?", row)
                self._db.execute("DELETE FROM other_ids WHERE id = ?", (id_,))
                # The next paper may have this number, and is to be indexed.
                self._db.execute("INSERT OR IGNORE INTO changed VALUES (?)", row)
                # It may have come from a file of references, which `collect.crawl` then reads again.
                self._db.execute("DELETE FROM meta WHERE key GLOB 'references *'")

    def papers(self, ids: Iterable[str] | None = None) -> Iterator[Paper]:
        """Yield the papers that samples may be drawn from, by id; with `ids`, those in the pool or not, in the given order."""
        if ids is None:
            yield from self._read("WHERE since <> '' ORDER BY id")
        for paper_id in ids or ():
            yield from self._read("WHERE id = ?", paper_id)

    def _read(self, which: str, *values: object) -> Iterator[Paper]:
        return map(_paper, self._db.execute(f"{_SELECT} {which}", values))

    def paper(self, name: str) -> Paper | None:
        """Return the record of this id and version; None if there is none, or one of another version."""
        paper_id = PaperId.parse(name)
        paper = next(self.papers([paper_id.bare]), None) if paper_id else None
        return paper if paper is not None and paper.versioned_id == name else None

    def pool_authorships(
        self, since: str, categories: Iterable[str], first: date | None, last: date | None
    ) -> Iterator[Authorship]:
        """Yield who wrote the papers in the pool of a round, in a window of days and with one of the categories (or archives).

        In no particular order: in that of ids or days, each row would come from another part of the file.
        """
        wanted = frozenset(categories)
        # The first letters leave few rows to look at.
        like = " OR ".join("instr(categories, ?) = 1" for _ in wanted) or "true"
        rows = self._db.execute(
            "SELECT id, published, authors, author_ids, categories FROM papers NOT INDEXED "
            f"WHERE since <> '' AND since <= ? AND id NOT IN ({GONE}) "
            f"AND published BETWEEN ? AND ? AND ({like})",
            (
                since,
                since,
                (first or date.min).isoformat(),
                (last or date.max).isoformat(),
                *("" if category == "unknown" else category for category in wanted),
            ),
        )
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            # Parsed together: a call takes longer than the few names of a row.
            authors, author_ids = (json.loads(f"[{','.join(row[i] for row in some)}]") for i in (2, 3))
            for (id_, day, *_, paper_categories), names, ids in zip(some, authors, author_ids, strict=True):
                if _is_wanted(paper_categories.partition(" ")[0] or "unknown", wanted):
                    yield Authorship(id_, date.fromisoformat(day), tuple(names), tuple(ids))

    def identified_authorships(self, since: str) -> Iterator[Authorship]:
        """Yield who wrote the papers in the pool of a round whose authors are known by more than their names, in no particular order."""
        rows = self._db.execute(
            "SELECT id, published, authors, author_ids FROM papers WHERE author_ids <> '[]' AND since <> '' AND since <= ? "
            f"AND id NOT IN ({GONE})",
            (since, since),
        )
        for id_, day, authors, ids in rows:
            yield Authorship(id_, date.fromisoformat(day), tuple(json.loads(authors)), tuple(json.loads(ids)))

    def published_between(self, first: date, last: date) -> Iterator[Paper]:
        return self._read(
            "INDEXED BY papers_by_day WHERE published BETWEEN ? AND ? ORDER BY published, id",
            first.isoformat(),
            last.isoformat(),
        )

    def published_outside(self, first: date, last: date) -> Iterator[str]:
        rows = self._db.execute(
            "SELECT id FROM papers INDEXED BY papers_by_day WHERE published < ? OR published > ? ORDER BY published, id",
            (first.isoformat(), last.isoformat()),
        )
        return (row[0] for row in rows)

    def index_authors(self) -> None:
        """Make the papers that are new, or have other authors now, known by their authors; inside a transaction.

        Not done when papers are added: it would double what each commit of the crawl writes.
        """
        done = int(self._value("SELECT value FROM meta WHERE key = ?", _NOTE) or 0)
        self._know_authors("pid <= ? AND pid IN (SELECT pid FROM changed)", done)
        self._db.execute("DELETE FROM changed")
        last = self._value("SELECT coalesce(max(pid), 0) FROM papers")
        for first in range(done + 1, last + 1, _PAPERS_AT_ONCE):
            self._know_authors("pid BETWEEN ? AND ?", first, min(last, first + _PAPERS_AT_ONCE - 1))
        # Less than before if the last papers were forgotten: the next ones have their numbers.
        if last != done:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_NOTE, str(last)))

    def _know_authors(self, which: str, *values: int) -> None:
        rows = self._db.execute(f"SELECT pid, authors FROM papers WHERE look_up AND {which}", values)
        # In the table's own order, so that few of its pages are touched more than once.
        keys = sorted({(author_key(name), pid) for pid, authors in rows for name in json.loads(authors)})
        self._db.executemany("INSERT OR IGNORE INTO authorship VALUES (?, ?)", keys)

    def papers_by_author(self, key: str) -> list[Paper]:
        """Return every paper with an author of this key, as far as it was indexed, by id."""
        papers = self._read("WHERE pid IN (SELECT pid FROM authorship WHERE key = ?) ORDER BY id", key)
        # A paper whose authors changed may still be known by a former author.
        return [paper for paper in papers if key in map(author_key, paper.authors)]

    def taken(self, ids: Iterable[str], round_: str) -> set[str]:
        """Return which of these papers the round has taken into its pool itself."""
        return {id_ for id_ in ids if self._value("SELECT 1 FROM papers WHERE id = ? AND since = ?", id_, round_)}

    def pool_ids(self, before: str) -> list[str]:
        """Return the papers that rounds before this one took into the pool."""
        return self._column("SELECT id FROM papers WHERE since <> '' AND since < ?", before)

    def release_all(self, round_: str) -> None:
        """Take a round's papers out of the pool: their records stay, to be looked up. Inside a transaction of the caller."""
        self._db.execute("UPDATE papers SET since = '' WHERE since = ?", (round_,))

    def forget_licenses(self) -> None:
        """Forget the licences of all papers of the pool. Inside a transaction of the caller."""
        self._db.execute("UPDATE papers SET license = 'unknown' WHERE since <> ''")

    def set_licenses(self, licenses: Iterable[tuple[str, str]]) -> None:
        self._db.executemany("UPDATE papers SET license = ? WHERE id = ?", ((value, id_) for id_, value in licenses))

    def ids_by_title(self, key: str) -> list[str]:
        return self._column("SELECT id FROM papers WHERE title_key = ? ORDER BY id", key)

    def knows(self, paper_id: str) -> bool:
        """Tell whether there is a record of this id, with an abstract."""
        return bool(self._value("SELECT 1 FROM papers WHERE id = ? AND abstract <> ''", paper_id))

    def ids_by_title_prefix(self, key: str) -> list[str]:
        return self._column(
            "SELECT id FROM papers WHERE title_key >= ? AND title_key < ? ORDER BY id LIMIT 5", key, key + "\U0010ffff"
        )

    def id_by_doi(self, doi: str) -> str | None:
        return next(iter(self._column("SELECT id FROM papers WHERE doi = ? ORDER BY id LIMIT 1", doi.lower())), None)

    def id_of(self, other: str) -> str | None:
        """Return id of the paper that is known elsewhere by another one."""
        return next(iter(self._column("SELECT id FROM other_ids WHERE other = ? ORDER BY id LIMIT 1", other)), None)

    def resolve(self, id_: str) -> str | None:
        """Return the id of the paper that goes by an id: its own, a DOI, or that of another archive; None if none does."""
        own = self._value("SELECT id FROM papers WHERE id = ?", id_)
        return own or self.id_of(id_) or self.id_by_doi(id_)

    def other_ids(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the other ids of papers -> their own."""
        papers = self.papers(ids)
        return {other: paper.id for paper in papers for other in paper.every_id if other != paper.id}

    def pool_count(self, key: str) -> int:
        """Return how many papers of the pool have an author of this key, as far as they were indexed."""
        rows = self._db.execute(
            "SELECT authors FROM papers WHERE since <> '' AND pid IN (SELECT pid FROM authorship WHERE key = ?)", (key,)
        )
        # A paper whose authors changed may still be known by a former author.
        return sum(key in map(author_key, json.loads(authors)) for (authors,) in rows)

    def newest_papers(self, before: str) -> dict[str, date]:
        """Return the author key -> day of the newest paper, of those indexed, that a round before this one took into the pool."""
        rows = self._db.execute(
            "SELECT authors, published FROM papers WHERE since <> '' AND since < ? AND look_up",
            (before,),
        )
        newest: dict[str, str] = {}
        for authors, day in rows:
            for key in map(author_key, json.loads(authors)):
                newest[key] = max(day, newest.get(key, day))
        return {key: date.fromisoformat(day) for key, day in newest.items()}

    def window(self, first: date, last: date, categories: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (id, since) of the papers of some days and categories that can be found by their authors, by id."""
        wanted = frozenset(categories)
        rows = self._db.execute(
            "SELECT id, since, categories FROM papers WHERE published BETWEEN ? AND ? AND look_up ORDER BY id",
            (first.isoformat(), last.isoformat()),
        )
        return ((id_, since) for id_, since, named in rows if _is_wanted(named.partition(" ")[0] or "unknown", wanted))


_SELECT = (
    "SELECT id, version, title, abstract, authors, categories, published, updated, license, doi, author_ids, other_ids, "
    "classes FROM papers"
)


def _paper(row: Sequence[Any]) -> Paper:
    id_, version, title, abstract, authors, categories, first, last, license_, doi, author_ids, other_ids, classes = row
    names, ids, others = (tuple(json.loads(listed)) for listed in (authors, author_ids, other_ids))
    days = date.fromisoformat(first), date.fromisoformat(last)
    groups = tuple(categories.split()), tuple(classes.split())
    return Paper(id_, version, title, abstract, names, groups[0], *days, license_, doi, ids, others, groups[1])


def in_categories(paper: Paper, wanted: frozenset[str]) -> bool:
    """Tell whether a paper's primary category, or its archive, is among the wanted ones; an empty set means all."""
    return _is_wanted(paper.primary_category, wanted)


def _is_wanted(primary: str, wanted: frozenset[str]) -> bool:
    return not wanted or primary in wanted or primary.partition(".")[0] in wanted
