"""What a made-up paper is about and what it says: a study, its claims in different words in each section, and the works that it cites."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from typing import Literal

from builder.sources.sample import lexicon
from builder.sources.sample.lexicon import coin_collection

Citing = Literal["numeric", "author-year"]
SectionRole = Literal["introduction", "related_work", "method", "experiments", "conclusion", "acknowledgements"]
_BEGINNINGS = ("problem signal method", "signal problem method", "problem method signal")
_NUMBERS = {"gain": (6, 41), "cost": (31, 89), "share": (61, 97), "limit": (150, 2950)}
# Of each six works, the sections that have a reason to cite them.
_ROLES = ("related_work", "experiments", "related_work", "introduction", "method", "related_work")


@dataclass(frozen=True, slots=True)
class Work:
    """What a reference list and a citation say of an earlier paper; `method` is the name under which others speak of it."""

    id: str
    title: str
    authors: tuple[str, ...]
    published: date
    method: str

    def mark(self, index: int, citing: Citing) -> str:
        who = self.authors[0].split()[-1] + " et al." * (len(self.authors) > 1)
        return f"[{index + 1}]" if citing == "numeric" else f"({who}, {self.published.year})"

    def entry(self, rng: random.Random) -> str:
        """Return its entry in a reference list, without a label."""
        names = ", ".join(f"{author[0]}. {author.split()[-1]}" for author in self.authors[:8])
        is_preprint = self.id and rng.random() < 0.5
        place = f"arXiv preprint arXiv:{self.id}" if is_preprint else "In Proceedings of the Made-up Conference"
        return f"{names}. {self.title}. {place}, {self.published.year}."


@dataclass(frozen=True, slots=True)
class WorldSection:
    """A section of a made-up paper; paragraphs are plain text."""

    heading: str
    level: int
    paragraphs: tuple[str, ...]
    role: SectionRole


class Study:
    """What a paper is about and what it found, on its group's collections and one of its own; its texts say nothing else."""

    def __init__(
        self, rng: random.Random, subject: str, topic: Mapping[str, str], collections: Sequence[str], rival: str
    ) -> None:
        self._rng, self.method = rng, lexicon.coin(rng)
        (quality, quality2), (device, device2) = rng.sample(lexicon.QUALITIES, 2), rng.sample(lexicon.DEVICES, 2)
        data, data2 = rng.sample(list(collections), 2)
        self._collections = (data, lexicon.coin_collection(rng), data2)
        facts = {
            **{name: rng.choice(words) for name, words in lexicon.VOICES.items()},
            **{name: str(rng.randint(*limits)) for name, limits in _NUMBERS.items()},
            **topic,
            **{"subject": subject, "method": self.method, "rival": rival, "loss": f"{rng.randint(11, 79) / 10:.1f}"},
            **{"first": f"{quality} {device}", "second": f"{quality2} {device2}"},
            **dict(zip(("data", "data2", "data3"), self._collections, strict=True)),
        }
        self._facts = facts | {name.capitalize(): words[:1].upper() + words[1:] for name, words in facts.items()}
        rest = rng.sample(["ablation", "limit"], rng.randint(1, 2))
        self._claims = [*rng.choice(_BEGINNINGS).split(), "result", *rest]
        self._trial = self._trials()
        title = self._say(rng.choice(lexicon.TOLD["title"]))
        self.title = re.sub(r"\b(?!(?:of|by|and|with|an?|for)\b)\w", lambda letter: letter[0].upper(), title)

    def _trials(self) -> tuple[str, str]:
        """Return what only this paper states, in the words of its abstract and of its introduction; it is drawn apart from all else."""
        rng = random.Random(self.method)
        facts = {
            **self._facts,
            "trial": coin_collection(rng),
            "score": f"{rng.randint(2100, 9890) / 100:.2f}",
            "few": str(rng.randint(151, 989)),
        }
        *shorter, longer = lexicon.CLAIMS["trial"]
        return rng.choice(shorter).format_map(facts), longer.format_map(facts)

    def abstract(self) -> str:
        claims = [self._say(self._rng.choice(lexicon.CLAIMS[claim][:-1])) for claim in self._claims]
        return " ".join([*claims, self._trial[0]])

    def sections(
        self, cited: Sequence[Work], citing: Citing, *, introduction: bool, related: bool
    ) -> tuple[tuple[WorldSection, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the sections in order, the entries of the reference list, and the marks that cite the first of these."""
        rng, facts = self._rng, self._facts
        known, uncited = [*cited, _unknown(rng)], [_unknown(rng) for _ in range(2)]
        marks = [work.mark(i, citing) for i, work in enumerate(known)]
        cites = self._citing_sentences([(work.method, mark) for work, mark in zip(known, marks, strict=True)])
        claims = [self._say(lexicon.CLAIMS[claim][-1]) for claim in self._claims]
        asides = self._told("asides", len(claims))
        reasons = zip_longest([*claims, self._trial[1]], cites["introduction"], asides, fillvalue="")
        plain = rng.randint(0, 2)
        opening = "Introduction" if introduction else "Setting the Scene"
        behind = ("Related Work", "Background and Related Work", "Prior Work")[plain]
        discussed = [
            *cites["related_work"],
            self._say("Unlike all of these, {method} needs {signal} and nothing else."),
        ]
        # Heading, level, role, sentences of its own, sentences that cite, paragraphs.
        body: list[tuple[str, int, SectionRole, int, list[str], int]] = [
            (self.method, 1, "method", 12, cites["method"][:1], 2),
            (f"The {facts['first']}", 2, "method", 44, cites["method"][1:], 7),
            (f"The {facts['second']}", 2, "method", 10, [], 2),
            ("Experiments", 1, "experiments", 12, cites["experiments"][:2], 2),
            (f"Results on {facts['data']}", 2, "experiments", 38, cites["experiments"][2:], 6),
            ("Ablation", 2, "experiments", 8, [], 2),
        ]
        middle = [
            _section(heading, level, role, [*self._told(role, own), *citing_], paragraphs)
            for heading, level, role, own, citing_, paragraphs in body
        ]
        if related:
            middle.insert(0 if plain else len(middle), _section(behind, 1, "related_work", discussed, 2))
        sections = (
            _section(opening, 1, "introduction", list(filter(None, chain.from_iterable(reasons))), 2),
            *middle,
            _section("Conclusion", 1, "conclusion", list(map(self._say, lexicon.TOLD["conclusion"])), 1),
            _section("Acknowledgements", 1, "acknowledgements", ["We thank the operators of the shared machines."], 1),
        )
        return sections, tuple(work.entry(rng) for work in (*known, *uncited)), tuple(marks)

    def _citing_sentences(self, named: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        """Return for each role what its sections say of the works that they have a reason to cite, given the method's name and the mark."""
        order = self._rng.sample(list(named), len(named))
        of = {role: [work for i, work in enumerate(order) if _ROLES[i % len(_ROLES)] == role] for role in lexicon.CITED}
        # What is compared with is often discussed as well, and what is discussed motivates.
        of["introduction"] += of["related_work"][:5]
        of["related_work"] += [work for work in of["experiments"] if self._rng.random() < 0.6]
        return {
            role: [self._say(self._rng.choice(lexicon.CITED[role]), name=name, mark=mark) for name, mark in works]
            for role, works in of.items()
        }

    def _told(self, bank: str, count: int) -> list[str]:
        return [self._say(self._rng.choice(lexicon.TOLD[bank])) for _ in range(count)]

    def _say(self, wording: str, **more: str) -> str:
        """Return a wording with the study's facts, and with details that no other sentence has."""
        rng = self._rng
        own = {
            "n": str(rng.randint(2, 98)),
            "m": str(rng.randint(101, 998)),
            "point": f"{rng.randint(3, 98) / 10:.1f}",
            "quality": rng.choice(lexicon.QUALITIES),
            "device": rng.choice(lexicon.DEVICES),
            "some": rng.choice(self._collections),
        }
        sentence = wording.format_map(self._facts | own | more)
        return re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", sentence[:1].upper() + sentence[1:])


def _section(heading: str, level: int, role: SectionRole, sentences: Sequence[str], paragraphs: int) -> WorldSection:
    return WorldSection(heading, level, tuple(" ".join(sentences[i::paragraphs]) for i in range(paragraphs)), role)


def _unknown(rng: random.Random) -> Work:
    """Return a work that is in no archive."""
    title = f"Notes on {rng.choice(lexicon.QUALITIES)} {rng.choice(lexicon.DEVICES)}s and their history"
    return Work("", title, (lexicon.person(rng),), date(rng.randint(1990, 2024), 1, 1), lexicon.coin(rng))
