"""The texts of a made-up paper: what its study found, said in each section that has a reason to say it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from builder.sources.sample import phrases
from builder.sources.sample.lexicon import DEVICES, QUALITIES
from builder.sources.sample.works import Citing, Reasons, SectionRole, Work, entry_of, mark_of, unknown_work

if TYPE_CHECKING:
    from builder.sources.sample.study import Study


@dataclass(frozen=True, slots=True)
class WorldSection:
    """A section of a made-up paper; paragraphs are plain text."""

    heading: str
    level: int
    paragraphs: tuple[str, ...]
    role: SectionRole


# Role of a section -> what it says in detail, and why it cites.
_DETAILED = {
    "method": (phrases.METHOD, phrases.BUILDS_ON),
    "experiments": (phrases.EXPERIMENTS, phrases.COMPARED),
}
# Slots that differ from sentence to sentence.
_DETAILS = ("{n}", "{m}", "{point}", "{quality}", "{some}")


class Writer:
    """Writes the texts of one paper."""

    def __init__(self, rng: random.Random, study: Study) -> None:
        self._rng, self._study, self._words = rng, study, study.words()
        # Bank of wordings -> those not said yet.
        self._decks: dict[int, list[str]] = {}
        self._begun: set[int] = set()
        task, material = study.topic.task.title(), study.topic.material.title()
        quality, device = study.first.title(), study.second.title()
        title = rng.choice(
            (
                f"{study.method}: {task} of {material} with a {quality}",
                f"{task} of {material} by {quality} and {device}",
                f"{study.method}, a {device} for {task} of {material}",
            )
        )
        self.title = _with_articles(title)

    def abstract(self) -> str:
        return " ".join(self._say(phrases.ABSTRACT[claim]) for claim in self._study.claims)

    def sections(
        self, cited: Sequence[Work], citing: Citing, *, introduction: bool, related: bool
    ) -> tuple[tuple[WorldSection, ...], tuple[str, ...], tuple[str, ...]]:
        """The sections in order, the entries of the reference list, and the marks that cite the first of these."""
        rng = self._rng
        unknown = [unknown_work(rng) for _ in range(3)]
        entries = [entry_of(work, rng) for work in (*cited, *unknown)]
        known = [*cited, unknown[0]]
        marks = [mark_of(i, work, citing) for i, work in enumerate(known)]
        cites = Reasons(rng, known, marks)
        plain = rng.randint(0, 2)
        heading = ("Related Work", "Background and Related Work", "Prior Work")[plain]
        study = self._study
        first = WorldSection(
            "Introduction" if introduction else "Setting the Scene", 1, self._introduction(cites), "introduction"
        )
        behind = WorldSection(heading, 1, self._related_work(cites), "related_work")
        body = [
            self._part(study.method, 1, "method", 2, cites.of("method", 1)),
            self._part(f"The {study.first}", 2, "method", 5, cites.of("method", 2)),
            self._part(f"The {study.second}", 2, "method", 3),
            self._part("Experiments", 1, "experiments", 2, cites.of("experiments", 2)),
            self._part(f"Results on {study.collections[0]}", 2, "experiments", 4, cites.of("experiments", 3)),
            self._part("Ablation", 2, "experiments", 3),
        ]
        middle = [behind, *body] if plain else [*body, behind]
        end = WorldSection(
            ("Conclusion", "Conclusions", "Conclusion and Future Work")[plain], 1, self._conclusion(), "conclusion"
        )
        thanks = WorldSection(
            "Acknowledgements",
            1,
            ("We thank the operators of the shared machines for their patience.",),
            "acknowledgements",
        )
        kept = [section for section in middle if related or section is not behind]
        return (first, *kept, end, thanks), tuple(entries), tuple(marks)

    def _say(self, wordings: Sequence[str]) -> str:
        return _with_articles(self._rng.choice(wordings).format_map(self._words))

    def _introduction(self, cites: Reasons) -> tuple[str, ...]:
        said = [self._say(phrases.INTRODUCTION[claim]) for claim in self._study.claims]
        reasons = self._cite(cites.of("introduction", 8), phrases.MOTIVATION)
        half = len(said) // 2
        # What is claimed stands among what leads to it.
        first = [[claim, self._aside()] for claim in said[:half]]
        for i, reason in enumerate(reasons):
            first[i % half].insert(1, reason)
        second = [sentence for claim in said[half:] for sentence in (claim, self._aside())]
        return " ".join(chain.from_iterable(first)), " ".join([*second, self._say(phrases.OUTLINE)])

    def _related_work(self, cites: Reasons) -> tuple[str, ...]:
        sentences = self._cite(cites.of("related_work", len(phrases.RELATED) * 3), phrases.RELATED)
        half = (len(sentences) + 1) // 2
        lead, close = self._say(phrases.RELATED_LEAD), self._say(phrases.RELATED_CLOSE)
        return " ".join([lead, *sentences[:half], self._aside()]), " ".join([*sentences[half:], close, self._aside()])

    def _part(
        self,
        heading: str,
        level: int,
        role: Literal["method", "experiments"],
        paragraphs: int,
        works: Sequence[tuple[str, str]] = (),
    ) -> WorldSection:
        """A section of details, the works that it needs spread over its paragraphs."""
        details, reasons = _DETAILED[role]
        cited = self._cite(works, reasons)
        texts = []
        for i in range(paragraphs):
            sentences = [self._local(self._next(details)) for _ in range(self._rng.randint(5, 7))]
            texts.append(" ".join([*sentences[:2], *cited[i::paragraphs], *sentences[2:]]))
        return WorldSection(heading, level, tuple(texts), role)

    def _next(self, bank: Sequence[str]) -> str:
        """The next wording of a bank in an order of the paper's own; what has no details of its own is said only once."""
        deck = self._decks.setdefault(id(bank), [])
        if not deck:
            again = id(bank) in self._begun
            self._begun.add(id(bank))
            left = [wording for wording in bank if not again or any(detail in wording for detail in _DETAILS)]
            deck += self._rng.sample(left, len(left))
        return deck.pop()

    def _conclusion(self) -> tuple[str, ...]:
        return (" ".join([*map(self._local, phrases.CONCLUSION), self._aside()]),)

    def _cite(self, works: Sequence[tuple[str, str]], wordings: Sequence[str]) -> list[str]:
        """A sentence for each work, given its name and its mark, none in the same words as the one before."""
        order = self._rng.sample(list(wordings), len(wordings))
        return [
            _upper(self._local(order[i % len(order)], name=name, mark=mark)) for i, (name, mark) in enumerate(works)
        ]

    def _aside(self) -> str:
        return self._local(self._next(phrases.ASIDES))

    def _local(self, wording: str, **more: str) -> str:
        """A wording with the study's facts, and with details that no other sentence has."""
        rng = self._rng
        details = {
            "n": str(rng.randint(2, 98)),
            "m": str(rng.randint(101, 998)),
            "point": f"{rng.randint(3, 98) / 10:.1f}",
            "quality": rng.choice(QUALITIES),
            "device": rng.choice(DEVICES),
            "some": rng.choice(self._study.collections),
        }
        return _with_articles(wording.format_map(self._words | details | more))


def _with_articles(sentence: str) -> str:
    return re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", sentence)


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
