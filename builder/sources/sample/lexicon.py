"""The words of the made-up arXiv: what its fields work on, and what its methods and collections are called."""

from __future__ import annotations

import random
from dataclasses import dataclass

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
    "gated structured iterative selective spectral bounded federated patient frugal shallow delayed paired nested "
    "windowed weighted cautious mirrored"
).split()
DEVICES = (
    "ledger notebook router sampler aligner pooler encoder decoder mask relay gate lookup cluster scheduler rewriter "
    "verifier cache planner ballot referee sieve anchor beacon buffer probe filter meter table graph queue"
).split()
_ONSETS = "b br c cl d dr f fl g gr h j k l m n p pl qu r s sk st t tr v w z".split()
_VOWELS = "a e i o u ai ea io".split()
_CODAS = "l m n r s t x nd rn sk lt".split()
_COLLECTIONS = "Bench Corpus Set Suite Pool Archive Trials".split()


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that a field works on.

    Attributes:
        task: what is to be done.
        material: what it is done with.
        obstacle: what makes it hard.
        signal: what can be observed before it goes wrong.
    """

    task: str
    material: str
    obstacle: str
    signal: str


@dataclass(frozen=True, slots=True)
class Discipline:
    """A field of the made-up arXiv: its category, who works in it, and on what."""

    category: str
    subject: str
    topics: tuple[Topic, ...]


def _topics(lines: str) -> tuple[Topic, ...]:
    return tuple(Topic(*map(str.strip, line.split("|"))) for line in lines.strip().splitlines())


DISCIPLINES: tuple[Discipline, ...] = (
    Discipline(
        "cs.CL",
        "language models",
        _topics("""
        summarisation | meeting transcripts | decisions scattered over hours of talk | the return of a speaker's name
        translation | rental contracts | clauses that point to each other | the distance between a term and its definition
        dialogue | support chats | customers who change their mind | a sudden drop in the length of replies
        parsing | spoken recipes | instructions without verbs | pauses between two ingredients
        annotation | court records | labels that depend on the next page | disagreement among three quick readers
        paraphrase | school essays | synonyms that shift the tone | the rank of the rarest word
        tagging | ship logs | abbreviations of forgotten origin | letters that never occur together elsewhere
        question answering | tax leaflets | exceptions hidden in footnotes | numbers repeated in two columns
        """),
    ),
    Discipline(
        "cs.LG",
        "learning systems",
        _topics("""
        pruning | speech recognisers | weights that matter for one accent alone | the variance of activations at dawn of training
        distillation | weather emulators | teachers that are wrong with confidence | the gap between two checkpoints
        calibration | triage classifiers | patients unlike any seen before | the slope of the last logits
        pretraining | sensor streams | clocks that drift apart | gradients that point backwards
        transfer | soil measurements | regions without a single label | the overlap of nearest neighbours
        optimisation | warehouse simulators | plateaus longer than the budget | oscillation of the step size
        regularisation | protein tables | columns that leak the target | the norm of unused features
        sampling | energy markets | rare spikes that decide the loss | the age of the oldest example
        """),
    ),
    Discipline(
        "cs.CV",
        "vision models",
        _topics("""
        segmentation | satellite mosaics | seams between two days | the entropy along a shoreline
        detection | night traffic cameras | headlights that bloom into each other | blur in the lowest third
        tracking | bird colonies | wings that hide the neighbour | the curvature of short paths
        matching | herbarium scans | leaves pressed on top of leaves | texture that repeats every centimetre
        restoration | glass plate negatives | scratches as thin as hair | grain that grows toward the edge
        captioning | museum photographs | objects without a common name | words that annotators erase
        depth estimation | cave footage | walls without texture | the falloff of a single lamp
        rendering | scanned theatres | curtains that move between shots | rays that miss every surface
        """),
    ),
    Discipline(
        "cs.IR",
        "search engines",
        _topics("""
        ranking | patent families | documents that differ by one claim | clicks that return within seconds
        recommendation | library loans | readers with three loans a year | gaps between two visits
        indexing | radio archives | songs announced after they were played | silence before the jingle
        query expansion | medical questions | lay words for rare diseases | edits to the same query
        reranking | job adverts | skills that nobody writes down | agreement of two cheap rankers
        filtering | emergency calls | rumours that travel faster than reports | bursts from one neighbourhood
        deduplication | recipe portals | copies with another photograph | the order of the ingredients
        personalisation | city guides | tourists who stay for a day | the hour of the first request
        """),
    ),
    Discipline(
        "stat.ML",
        "statistical learners",
        _topics("""
        regression | river gauges | floods that occur once in a career | residuals that share a sign
        clustering | dialect surveys | speakers between two valleys | the width of the second gap
        forecasting | hospital admissions | holidays that move with the moon | errors on the previous Monday
        imputation | farm censuses | farms that answer every other year | patterns among the missing
        smoothing | tide tables | storms that erase a sensor | jumps larger than the moon allows
        testing | clinical registries | hundreds of outcomes at a time | ties among the smallest values
        inference | election panels | voters who refuse to say | the speed of an answer
        selection | gene screens | effects that cancel in pairs | stability under half of the data
        """),
    ),
)


def coin(rng: random.Random) -> str:
    """A name that is no word."""
    return "".join(
        rng.choice(_ONSETS) + rng.choice(_VOWELS) + (rng.choice(_CODAS) if i else "") for i in range(2)
    ).capitalize()


def coin_collection(rng: random.Random) -> str:
    """The name of a collection of data."""
    return coin(rng) + rng.choice(_COLLECTIONS)


def person(rng: random.Random) -> str:
    """A name of a person."""
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
