"""The words of the made-up arXiv: what its fields work on, and what its people, methods and collections are called."""

from __future__ import annotations

import random
from typing import NamedTuple

GIVEN = (
    "Ada Bruno Chiara Dmitri Elif Farid Greta Hanna Igor Jun Kavya Lars Maya Nils Olga Pablo Qing Rosa Sven Tara "
    "Uma Viktor Wei Ximena Yusuf Zofia Amara Björn Celia Doğan Eszter Faye Gaël Hugo Ines Jonas Katja Levi Mina Noor"
).split()
FAMILY = (
    "Abara Brandt Castell Dvorák Eklund Ferrante Galvão Holm Ivers Jansky Kowal Lindqvist Moreau Nakata Okafor Petrov "
    "Quiroga Rautio Sandoval Tanabe Ullmann Varga Wexler Xanthos Ylönen Zhou Achterberg Bianchi Cho Duarte"
).split()
# What the two parts of a method are called.
QUALITIES = (
    "adaptive sparse robust modular layered calibrated stepwise latent recurrent stochastic compact aligned contrastive "
    "gated structured iterative selective spectral bounded federated patient frugal shallow delayed paired nested"
).split()
DEVICES = (
    "ledger notebook router sampler aligner pooler encoder decoder mask relay gate lookup cluster scheduler rewriter "
    "verifier cache planner ballot referee sieve anchor beacon buffer probe filter meter table graph queue"
).split()
_ONSETS = "b br c cl d dr f fl g gr h j k l m n p pl qu r s sk st t tr v w z".split()
_VOWELS = "a e i o u ai ea io".split()
_CODAS = "l m n r s t x nd rn sk lt".split()
_COLLECTIONS = "Bench Corpus Set Suite Pool Archive Trials".split()


class Discipline(NamedTuple):
    """A field of the made-up arXiv: its category, who works in it, and on what."""

    category: str
    subject: str
    topics: tuple[dict[str, str], ...]


# What is done, with what, what makes it hard, and what can be seen before it goes wrong.
_TOPIC = ("task", "material", "obstacle", "signal")
_TOPICS = """cs.CL | language models
    summarisation | meeting transcripts | decisions scattered over hours of talk | the return of a speaker's name
    translation | rental contracts | clauses that point to each other | the distance between a term and its definition
    dialogue | support chats | customers who change their mind | a sudden drop in the length of replies

cs.LG | learning systems
    pruning | speech recognisers | weights that matter for one accent alone | the variance of early activations
    distillation | weather emulators | teachers that are wrong with confidence | the gap between two checkpoints
    calibration | triage classifiers | patients unlike any seen before | the slope of the last logits

cs.CV | vision models
    segmentation | satellite mosaics | seams between two days | the entropy along a shoreline
    detection | night traffic cameras | headlights that bloom into each other | blur in the lowest third
    tracking | bird colonies | wings that hide the neighbour | the curvature of short paths

cs.IR | search engines
    ranking | patent families | documents that differ by one claim | clicks that return within seconds
    recommendation | library loans | readers with three loans a year | gaps between two visits
    indexing | radio archives | songs announced after they were played | silence before the jingle

stat.ML | statistical learners
    regression | river gauges | floods that occur once in a career | residuals that share a sign
    clustering | dialect surveys | speakers between two valleys | the width of the second gap
    forecasting | hospital admissions | holidays that move with the moon | errors on the previous Monday"""


def _discipline(text: str) -> Discipline:
    (category, subject), *topics = (map(str.strip, line.split("|")) for line in text.splitlines())
    return Discipline(category, subject, tuple(dict(zip(_TOPIC, topic, strict=True)) for topic in topics))


DISCIPLINES = tuple(map(_discipline, _TOPICS.split("\n\n")))


def coin(rng: random.Random) -> str:
    """A name that is no word."""
    syllables = (rng.choice(_ONSETS) + rng.choice(_VOWELS) + (rng.choice(_CODAS) if i else "") for i in range(2))
    return "".join(syllables).capitalize()


def coin_collection(rng: random.Random) -> str:
    """What a collection of data is called."""
    return coin(rng) + rng.choice(_COLLECTIONS)


def person(rng: random.Random) -> str:
    """What a person is called."""
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
