"""The words of the made-up arXiv: what its people, methods and fields are called, and what papers say, each claim in several wordings.

Names in braces are facts of a study, or words of its voice.
"""

import random
import re
from typing import NamedTuple


def _banks(text: str) -> dict[str, list[str]]:
    """Name -> the lines below the line that names it and ends with a colon."""
    names = re.findall(r"^(\w+):$", text, re.MULTILINE)
    return dict(zip(names, map(str.splitlines, re.split(r"^\w+:\n", text, flags=re.MULTILINE)[1:]), strict=True))


# Words that mean the same, of which one study uses one throughout, so that papers differ in their words as people do.
_VOICES = """inputs items cases instances records samples entries
errors mistakes failures slips misreadings faults blunders
effort labour computation attention care time energy
procedure method scheme recipe algorithm approach technique
lowers reduces cuts shrinks trims diminishes curbs
advantage benefit improvement gain profit progress lead
evidence hints clues traces indications facts observations
decides chooses rules determines settles judges selects
difficult hard doubtful stubborn tricky unclear awkward
observe notice find report discover see establish
examples annotations demonstrations labels pairs exercises specimens
model network predictor reader machine learner backbone
predicts announces precedes foretells betrays indicates heralds
pages screens sheets minutes frames rows turns
propose introduce present suggest describe build develop
keeps stores holds collects preserves retains gathers"""
VOICES = {words.split()[0]: words.split() for words in _VOICES.splitlines()}
# Claims: the last wording is the introduction's, which makes them in the order of its abstract; the others are the abstract's.
CLAIMS = _banks("""problem:
For {task} of {material}, {obstacle} are behind most {errors}.
{Material} contain {obstacle}, from which {task} suffers.
Why does {task} break down on {material}? Because of {obstacle}.
Anyone who handles {material} depends on {task}, and has met {obstacle}.
signal:
We {observe} that {signal} {predicts} {errors}.
{Signal}, a cheap quantity, separates {difficult} {inputs} from the others.
There is a warning, however: for {share} percent of the {inputs}, {signal} changes before {errors} occur.
method:
We {propose} {method}: a {first} {keeps} {evidence} while a {second} {decides} what deserves {effort}.
Our {procedure}, {method}, joins a {first} to a {second}.
In {method}, a {second} interrupts the {model} and a {first} {keeps} the {evidence}.
{Method}, which we {propose} here, has a {first} that {keeps} {evidence} and a {second} that {decides}.
result:
On {data} it {lowers} the {errors} by {gain} percent against {rival}, for {cost} percent of the {effort}.
{Rival} makes {gain} percent more {errors} on {data} and needs more {effort}.
{Data} sees {gain} percent fewer {errors} than with {rival}.
On {data}, {method} {lowers} the {errors} by {gain} percent against {rival} for {cost} percent of the {effort}.
ablation:
The {first} accounts for {loss} points of the {advantage}.
Most of it, {loss} points, is due to the {first}.
A run in which the {first} is removed explains {loss} points of the {advantage}.
limit:
Below {limit} {examples} the {second} falls silent.
How to do with fewer than {limit} {examples} remains open.
There is a limit: on fewer than {limit} {examples} the {second} cannot be trained.
trial:
On {trial}, {few} {pages} bring the {second} to {score}.
The {second} stops improving at {score} after {few} {pages} from {trial}.
A score of {score} costs the {second} {few} {pages} on {trial}.
In {trial} there are {score} points for a {second} that has seen {few} {pages}.
The {second} needs {few} {pages} to get {score} right on {trial}.
We reach {score} points with the {second} on {trial}, for which {few} {pages} are enough.""")
# Why a work is cited, by the section that does it: {mark} follows {name}, the work's method.
CITED = _banks("""introduction:
Early {subject} needed a rule for every case {mark}.
Interest in the problem began with {name} {mark}.
Since {name} {mark}, {material} are collected by the million.
related_work:
{name} {mark} learns {quality} representations and applies them once.
A {quality} variant of the same idea is due to {name} {mark}, which needs twice the memory.
{name} {mark} shares our goal but assumes that {errors} are independent.
With {name} {mark}, {inputs} are sorted by length, which hides {obstacle}.
method:
The {first} follows the design of {name} {mark}, with one change.
We initialise the {second} as proposed for {name} {mark}.
The code of {name} {mark} was the basis of our {device}.
experiments:
We compare with {name} {mark}, trained on the same {inputs}.
As a second baseline, {name} {mark} is run with its published settings.""")
# What the sections say besides; each sentence has a detail that no other one has.
TOLD = _banks("""title:
{Method}: {task} of {material} with a {first}
{Task} of {material} by {first} and {second}
method:
The {first} holds at most {m} entries, the oldest of which is dropped when entry {n} arrives.
The loss adds a price of {point} for each time that the {second} interrupts the {model}.
Entry {n} of the {first} {keeps} the {evidence} that {signal} {predicts} {errors}.
A {quality} {device} in place of the {second} would need {m} parameters more.
After {n} {inputs} of {some} the {first} contains what is needed for the next {m}.
experiments:
{Data} contains {m} {inputs} of {material}, {n} of which {rival} never answers.
Against {rival}, {method} makes {gain} percent fewer {errors} on part {n} of {data}.
The {second} interrupts the {model} for {n} of a thousand {inputs} of {some}.
Of {m} {errors} in {task} on {some}, {n} are due to {obstacle}.
A {quality} {device} in place of the {first} is {point} points worse on {some}.
conclusion:
We presented {method}, which uses {signal} to decide where {task} of {material} deserves more {effort}.
Its {first} and its {second} together remove {gain} percent of the {errors} on {data} at {cost} percent of the cost.
The approach needs {limit} {examples}, and it does not help where {obstacle} are absent.
asides:
On {material}, {n} of every hundred {inputs} are of this kind.
A {quality} {device} would be the obvious choice, but it forgets after {n} {inputs}.
Whoever reads {m} {pages} of {material} in a row overlooks {n} of them.""")


GIVEN = "Ada Bruno Chiara Dmitri Elif Farid Greta Hanna Igor Jun Kavya Lars Maya Nils Olga Björn Celia Doğan Gaël Noor".split()
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
    """Return a name that is no word."""
    first = rng.choice(_ONSETS) + rng.choice(_VOWELS)
    return (first + rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)).capitalize()


def coin_collection(rng: random.Random) -> str:
    """Return what a collection of data is called."""
    return coin(rng) + rng.choice(_COLLECTIONS)


def person(rng: random.Random) -> str:
    """Return what a person is called."""
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
