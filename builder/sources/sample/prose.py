"""The texts of a made-up paper, assembled from sentence patterns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

Citing = Literal["numeric", "author-year"]

GIVEN = (
    "Ada Bruno Chiara Dmitri Elif Farid Greta Hanna Igor Jun Kavya Lars Maya Nils Olga Pablo Qing Rosa Sven Tara "
    "Uma Viktor Wei Ximena Yusuf Zofia Amara Björn Celia Doğan Eszter Faye Gaël Hugo Ines Jonas Katja Levi Mina Noor"
).split()
FAMILY = (
    "Abara Brandt Castell Dvorák Eklund Ferrante Galvão Holm Ivers Jansky Kowal Lindqvist Moreau Nakata Okafor Petrov "
    "Quiroga Rautio Sandoval Tanabe Ullmann Varga Wexler Xanthos Ylönen Zhou Achterberg Bianchi Cho Duarte"
).split()
_ADJECTIVES = (
    "adaptive sparse robust modular hierarchical calibrated incremental latent recurrent stochastic compact aligned "
    "contrastive gated structured iterative selective spectral bounded federated"
).split()
_NOUNS = (
    "attention memory routing sampling alignment pooling encoding decoding masking fusion gating search embedding "
    "clustering scheduling rewriting verification caching planning voting"
).split()
_VERBS = "sharpens slows replaces steadies halves exposes guides widens filters predicts disturbs shortens".split()
_DATASETS = "Harbour Meadow Lantern Quarry Orchard Beacon Causeway Thicket Delta Foundry Saltmarsh Viaduct".split()


@dataclass(frozen=True, slots=True)
class WorldSection:
    """A section of a made-up paper; paragraphs are plain text."""

    heading: str
    level: int
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What a reference list and a citation say of an earlier paper."""

    id: str
    title: str
    authors: tuple[str, ...]
    published: date


class Writer:
    """Writes the texts of one paper about one method of one group."""

    def __init__(self, rng: random.Random, subject: str, terms: Sequence[str]) -> None:
        self._rng = rng
        self._subject = subject
        self._terms = terms
        self._task = rng.choice(terms)
        adjective, noun = rng.choice(_ADJECTIVES), rng.choice(_NOUNS)
        self._method = f"{adjective} {noun}"
        self._data = rng.choice(_DATASETS)
        second = rng.choice([noun_ for noun_ in _NOUNS if noun_ != noun])
        self.title = rng.choice(
            (
                f"{adjective.title()} {noun.title()} for {self._task.title()} with {second.title()}",
                f"{self._task.title()} by {adjective.title()} {noun.title()} and {second.title()}",
                f"On {adjective.title()} {noun.title()} in {self._subject.title()}: {self._task.title()} without {second.title()}",
            )
        )

    def abstract(self) -> str:
        rng, gain = self._rng, self._rng.randint(3, 19)
        problem = rng.choice(
            (
                f"Progress in {self._task} depends on how {self._subject} use what they have already seen.",
                f"Although {self._subject} have become cheap to run, {self._task} is still done at the same cost for every input.",
                f"It is an old observation that errors in {self._task} come in clusters, which no training objective exploits.",
                f"Few people would accept {self._task} from a colleague who never looks twice; machines get away with it.",
            )
        )
        proposal = rng.choice(
            (
                f"We introduce {self._method}, a procedure that decides for every input which parts deserve further work.",
                f"Here, {self._method} is used to put effort where a first guess is least certain.",
                f"Our answer is called {self._method}: a small model watches the large one and interrupts it.",
                f"By means of {self._method} we split the decision into a fast and a slow half and learn when to switch.",
            )
        )
        result = rng.choice(
            (
                f"On {self._data} and two further collections it lowers the error by {gain} percent at equal cost.",
                f"The error on {self._data} falls by {gain} percent, and half of the computation is no longer needed.",
                f"Measured on {self._data}, this saves {gain} percent of the time without a loss that we could detect.",
                f"Compared with the strongest {self._any_term()} system on {self._data}, the gain is {gain} percent.",
            )
        )
        limits = rng.choice(
            (
                "An ablation shows that the gain comes from the order in which parts are visited, not from their number.",
                f"Most of the benefit disappears when inputs are shorter than {gain * 10} words, and we explain why.",
                f"The analysis bounds how often a {rng.choice(_ADJECTIVES)} model can be wrong before it pays to start again.",
                f"What remains open is {self._any_term()}, where the two halves disagree for reasons that we do not know.",
            )
        )
        findings = " ".join(self._finding() for _ in range(5))
        return f"{problem} {proposal} {findings} {result} {limits} {self._sentence()}"

    def sections(
        self, cited: Sequence[Work], citing: Citing, *, introduction: bool, related: bool
    ) -> tuple[tuple[WorldSection, ...], tuple[str, ...], tuple[str, ...]]:
        """The sections in order, the entries of the reference list, and the marks that cite the first of these."""
        unknown = [self._unknown_work() for _ in range(3)]
        entries = [*(self._entry(paper) for paper in cited), *(self._unknown_entry(work) for work in unknown)]
        marks = [self._mark(i, paper, citing) for i, paper in enumerate([*cited, unknown[0]])]
        plain = self._rng.randint(0, 2)
        first = WorldSection("Introduction" if introduction else "Setting the Scene", 1, self._introduction(marks))
        names = [_name_of(work) for work in [*cited, unknown[0]]]
        heading = ("Related Work", "Background and Related Work", "Prior Work")[plain]
        behind = WorldSection(heading, 1, self._related_work(marks, names))
        body = [
            WorldSection(f"{self._method.title()}", 1, self._paragraphs(3)),
            WorldSection("Notation", 2, self._paragraphs(2)),
            WorldSection("The procedure", 2, self._paragraphs(4)),
            WorldSection("Experiments", 1, self._paragraphs(3)),
            WorldSection(f"Results on {self._data}", 2, self._paragraphs(4)),
            WorldSection("Ablation", 2, self._paragraphs(3)),
        ]
        middle = [behind, *body] if plain else [*body, behind]
        end = WorldSection(("Conclusion", "Conclusions", "Conclusion and Future Work")[plain], 1, self._conclusion())
        thanks = WorldSection(
            "Acknowledgements", 1, ("We thank the operators of the shared machines for their patience.",)
        )
        kept = [section for section in middle if related or section is not behind]
        return (first, *kept, end, thanks), tuple(entries), tuple(marks)

    def _any_term(self) -> str:
        return self._rng.choice(self._terms)

    def _finding(self) -> str:
        """A sentence with so few fixed words that no two abstracts are near copies of each other."""
        rng, number = self._rng, self._rng.randint(2, 98)
        first = f"{rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"
        second = f"{rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"
        third = f"{rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"
        verb, other = rng.sample(_VERBS, 2)
        return rng.choice(
            (
                f"{first.capitalize()} {verb} {second} wherever {third} {other} {self._any_term()}.",
                f"Unlike {first}, {second} {verb} {self._any_term()} within {number} {rng.choice(_DATASETS)} inputs.",
                f"{rng.choice(_DATASETS)} tells that {first} {verb} {second} while {third} {other} it.",
                f"With {number} rounds of {first}, {second} {verb} {self._any_term()} before {third} does.",
                f"{self._any_term().capitalize()} {other} {first} unless {second} {verb} {third}.",
            )
        )

    def _sentence(self) -> str:
        rng, number = self._rng, self._rng.randint(2, 98)
        return rng.choice(
            (
                f"The {self._any_term()} stage reads {number} items at a time and keeps the order in which they arrive.",
                f"When {self._method} is switched off, the error on {self._data} grows by {number / 10:.1f} points.",
                f"A second pass over the {self._any_term()} scores changes fewer than {number} of a thousand decisions.",
                f"We found no difference between {rng.choice(_ADJECTIVES)} and {rng.choice(_ADJECTIVES)} variants.",
                f"This matters because {self._subject} are often asked for {self._any_term()} on inputs that nobody checked.",
                f"Each {rng.choice(_NOUNS)} step costs time that grows with the square of the window, which is {number} here.",
                f"The bound is loose for small windows, yet it explains why {self._any_term()} needs a longer warm-up.",
                f"Inputs from {rng.choice(_DATASETS)} are longer, so that the {rng.choice(_NOUNS)} module is used twice.",
                f"In {number} of one hundred runs the {rng.choice(_ADJECTIVES)} baseline stopped before it had converged.",
                "We repeat every measurement five times and report the mean together with the spread between runs.",
                f"Removing the {rng.choice(_NOUNS)} term makes {self._any_term()} faster but no longer reproducible.",
                f"Readers who care only about {self._any_term()} may skip the derivation and continue with the results.",
            )
        )

    def _paragraph(self, sentences: int) -> str:
        return " ".join(self._sentence() for _ in range(sentences))

    def _paragraphs(self, count: int) -> tuple[str, ...]:
        return tuple(self._paragraph(self._rng.randint(4, 7)) for _ in range(count))

    def _introduction(self, marks: list[str]) -> tuple[str, ...]:
        opening = (
            f"Systems for {self._task} are used every day, and {self._subject} have become their core{self._cite(marks)}. "
            f"What they spend on an input hardly depends on how difficult the input is. {self._paragraph(3)}"
        )
        idea = (
            f"This paper proposes {self._method}, which makes the effort follow the difficulty. {self._paragraph(4)} "
            f"Earlier attempts needed labels for every step{self._cite(marks)}."
        )
        close = (
            f"Our contributions are a procedure for {self._method}, an analysis of its cost, and measurements on "
            f"{self._data}. The rest of the paper describes the procedure, the experiments and their limits."
        )
        return opening, self._paragraph(6), idea, self._paragraph(5), close

    def _related_work(self, marks: list[str], names: list[str]) -> tuple[str, ...]:
        sentences = [
            self._rng.choice(
                (
                    f"A line of work treats {self._any_term()} as a search problem {mark}.",
                    f"Others obtain {rng_word} representations from unlabelled text {mark}.",
                    f"The cost of {self._any_term()} was first measured on {self._data} {mark}.",
                    f"Closest to ours is a study of {rng_word} {self._rng.choice(_NOUNS)} {mark}, which needs labels.",
                    f"We compare with {name} {mark}, which stops early.",
                    f"{name} {mark} reads an input twice.",
                )
            )
            for mark, name in zip(marks, names, strict=True)
            for rng_word in (self._rng.choice(_ADJECTIVES),)
        ]
        half = (len(sentences) + 1) // 2
        lead = f"Work on {self._task} falls into two groups. {self._sentence()}"
        close = f"Unlike all of these, {self._method} needs neither labels nor a second model. {self._paragraph(3)}"
        return " ".join([lead, *sentences[:half]]), " ".join([*sentences[half:], close])

    def _conclusion(self) -> tuple[str, ...]:
        return (
            f"We presented {self._method} for {self._task} and measured it on {self._data}. {self._paragraph(3)} "
            f"Future work may drop the assumption that all parts cost the same.",
        )

    def _cite(self, marks: list[str]) -> str:
        return f" {self._rng.choice(marks)}" if marks else ""

    def _mark(self, index: int, paper: Work, citing: Citing) -> str:
        if citing == "numeric":
            return f"[{index + 1}]"
        surnames = [author.split()[-1] for author in paper.authors]
        who = surnames[0] if len(surnames) == 1 else f"{surnames[0]} et al."
        return f"({who}, {paper.published.year})"

    def _entry(self, paper: Work) -> str:
        authors = [author.split() for author in paper.authors[:8]]
        names = ", ".join(f"{first_name[0]}. {rest[-1]}" for first_name, *rest in authors)
        place = (
            f"arXiv preprint arXiv:{paper.id}"
            if self._rng.random() < 0.5
            else "In Proceedings of the Made-up Conference"
        )
        return f"{names}. {paper.title}. {place}, {paper.published.year}."

    def _unknown_work(self) -> Work:
        """A work that is in no archive."""
        name = f"{self._rng.choice(GIVEN)} {self._rng.choice(FAMILY)}"
        about = f"{self._rng.choice(_ADJECTIVES)} {self._rng.choice(_NOUNS)}"
        year = self._rng.randint(1990, 2024)
        return Work("", f"Notes on {about} and its history", (name,), date(year, 1, 1))

    def _unknown_entry(self, work: Work) -> str:
        first_name, family = work.authors[0].split()
        return f"{first_name[0]}. {family}. {work.title}. Journal of Invented Results, {work.published.year}."


def _name_of(work: Work) -> str:
    """What the method of a work is called: the first two long words of its title, written as one."""
    words = [word for word in work.title.split() if len(word) > 3]
    return "".join(word[:5].title() for word in words[:2]) + "Net"
