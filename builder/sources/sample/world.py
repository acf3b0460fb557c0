"""A made-up arXiv: seeded authors in research groups, their papers, and the texts of those papers.

Each paper reports a study: its abstract, introduction and experiments state the same findings in different words, and every
work is cited where there is a reason to. No real person, paper or sentence is meant. What real arXiv does to a builder is in it on
purpose: authors who share a name, author lists of sixty, papers without an introduction or related work, works that nobody can resolve,
a withdrawn paper and a broken file.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

from builder.records import months_before
from builder.sources.sample import lexicon
from builder.sources.sample.lexicon import DISCIPLINES, FAMILY, GIVEN, coin_collection, person
from builder.sources.sample.study import Citing, Study, Work, WorldSection

LAST_DAY, MONTHS = date(2026, 10, 28), 14
# As far as a world goes on.
_MOST_LATER = 24
# More are open than on arXiv, so that a copy to publish has whole questions with five papers each.
_OPEN = ("licenses/by/4.0", "licenses/by/4.0", "licenses/by-sa/4.0", "publicdomain/zero/1.0", "licenses/by-nc-nd/4.0")
_ARXIVS = "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"
_LICENSES = [*(f"http://creativecommons.org/{name}/" for name in _OPEN), _ARXIVS]


@dataclass(frozen=True, slots=True)
class WorldPaper(Work):
    """A made-up paper, ready to be set.

    Attributes:
        references: the printed entries of its reference list, without labels.
        marks: what cites the entries in the text, entry by entry; the last entries are not cited.
        flaw: "broken" for a paper whose file is cut off, "withdrawn" for one taken back, else "".
    """

    category: str
    license: str
    abstract: str
    sections: tuple[WorldSection, ...]
    references: tuple[str, ...]
    marks: tuple[str, ...]
    layout: Literal["one-column", "two-column"]
    citing: Citing
    flaw: str = ""


@dataclass(slots=True)
class _Group:
    """Authors of one discipline, who write about the same topics and measure on the same collections."""

    discipline: lexicon.Discipline
    collections: tuple[str, ...]
    members: list[str] = field(default_factory=list)


def months_until(day: date) -> int:
    """Count the months after `LAST_DAY`'s that a world has until a day."""
    months = (day.year - LAST_DAY.year) * 12 + day.month - LAST_DAY.month
    return min(max(0, months), _MOST_LATER)


def make_world(seed: int, authors: int, papers: int, *, later: int = 0) -> list[WorldPaper]:
    """Return the papers of a world, oldest first. The same arguments give the same world.

    Args:
        papers: up to `LAST_DAY`.
        later: months after that, which add papers and change none.
    """
    rng = random.Random(seed)
    groups = _groups(rng, authors)
    days = sorted(LAST_DAY - timedelta(days=rng.randrange(MONTHS * 30)) for _ in range(papers))
    drawn = random.Random(f"{seed} later")
    for month in range(1, later + 1):
        first = months_before(LAST_DAY.replace(day=1), -month)
        days += sorted(first + timedelta(days=drawn.randrange(28)) for _ in range(max(1, papers // MONTHS)))
    world: list[WorldPaper] = []
    serial: Counter[str] = Counter()
    for i, day in enumerate(days):
        of_month = f"{day:%y%m}"
        serial[of_month] += 1
        world.append(_paper(rng, f"{of_month}.{serial[of_month]:05d}", i, day, groups, world))
    return world


def _groups(rng: random.Random, authors: int) -> list[_Group]:
    groups = [_Group(discipline, tuple(coin_collection(rng) for _ in range(6))) for discipline in DISCIPLINES]
    names: set[str] = set()
    for i in range(authors):
        name = person(rng)
        while name in names:
            name = f"{rng.choice(GIVEN)} {rng.choice('ABCDEFGHJKLM')}. {rng.choice(FAMILY)}"
        names.add(name)
        groups[i % len(groups)].members.append(name)
    if authors >= 20:
        # Two people of one name, in different fields: nothing in the metadata tells them apart.
        groups[1].members[0] = groups[0].members[0]
    return [group for group in groups if group.members]


def _authors(rng: random.Random, i: int, group: _Group, groups: Sequence[_Group]) -> tuple[str, ...]:
    """Return those of the i-th paper; who stand next to each other in a group write together about the same topics."""
    place = (i // len(groups)) % len(group.members)
    near = [group.members[(place + step) % len(group.members)] for step in (-2, -1, 1, 2)]
    names = [group.members[place], *rng.sample(near, rng.randint(1, 3))]
    names += rng.sample(group.members, 1) if rng.random() < 0.5 else []
    names += rng.sample(rng.choice(groups).members, 1) if rng.random() < 0.5 else []
    if i == 30:
        names += [f"{given} {family}" for given, family in zip(GIVEN * 3, FAMILY * 3, strict=False)]
    return tuple(dict.fromkeys(names))[:60]


# By their numbers.
_FLAWS: dict[int, str] = {50: "broken", 70: "withdrawn"}


def _paper(
    rng: random.Random, paper_id: str, i: int, day: date, groups: Sequence[_Group], earlier: Sequence[WorldPaper]
) -> WorldPaper:
    group = groups[i % len(groups)]
    authors = _authors(rng, i, group, groups)
    cited = _choose_cited(rng, group, earlier)
    topics = group.discipline.topics
    line = group.members.index(authors[0]) * len(topics) // len(group.members)
    topic = topics[line if rng.random() < 0.6 else rng.randrange(len(topics))]
    collections = [group.collections[(line + step) % len(group.collections)] for step in range(3)]
    method = rng.choice([work.method for work in cited] or ["Ridge"])
    study = Study(rng, group.discipline.subject, topic, collections, method)
    citing: Citing = "numeric" if i % 3 else "author-year"
    sections, references, marks = study.sections(cited, citing, introduction=i % 40 != 7, related=i % 12 != 5)
    return WorldPaper(
        id=paper_id,
        title=study.title,
        method=study.method,
        authors=authors,
        category=group.discipline.category,
        published=day,
        license=rng.choice(_LICENSES),
        abstract=study.abstract(),
        sections=sections,
        references=references,
        marks=marks,
        layout="two-column" if i % 2 else "one-column",
        citing=citing,
        flaw=_FLAWS.get(i, ""),
    )


def _choose_cited(rng: random.Random, group: _Group, earlier: Sequence[WorldPaper]) -> list[Work]:
    """Return earlier works to cite, those of the same field more often, ordered as a reference list is."""
    near, far = (
        [paper for paper in earlier if not paper.flaw and (paper.category == group.discipline.category) == is_near]
        for is_near in (True, False)
    )
    picked: list[Work] = [*rng.sample(near, min(len(near), 11)), *rng.sample(far, min(len(far), 4))]
    # An author-year mark means one work.
    distinct = {(work.authors[0].split()[-1], work.published.year): work for work in picked}
    return sorted(distinct.values(), key=lambda work: (work.authors[0].split()[-1], work.id, work.title))
