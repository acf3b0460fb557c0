"""What papers of the made-up arXiv say: each claim in several wordings. Names in braces are facts of a study, or words of its voice."""

from __future__ import annotations

import re


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
current existing modern recent available common established
model network predictor reader machine learner backbone
predicts announces precedes foretells betrays indicates heralds
removed dropped disabled deleted omitted discarded withdrawn
confirm repeat verify reproduce replicate check corroborate
pages screens sheets minutes frames rows turns
propose introduce present suggest describe build develop
keeps stores holds collects preserves retains gathers"""
VOICES = {words.split()[0]: words.split() for words in _VOICES.splitlines()}
# Claims: the last wording is the introduction's, which makes them in the order of its abstract; the others are the abstract's.
CLAIMS = _banks("""problem:
For {task} of {material}, {obstacle} are behind most {errors}.
{Material} contain {obstacle}, from which {task} suffers.
Why does {task} break down on {material}? Because of {obstacle}.
{Obstacle} make {task} of {material} unreliable.
Anyone who handles {material} depends on {task}, and has met {obstacle}.
gap:
{Current} {subject} spend the same {effort} on all {inputs}.
{Current} {subject} ask for costly {examples}.
No {current} {procedure} tells {difficult} {inputs} from easy ones.
{Current} {subject} spend the same {effort} on all {inputs}, easy or hopeless.
signal:
We {observe} that {signal} {predicts} {errors}.
The key is {signal}.
{Signal}, a cheap quantity, separates {difficult} {inputs} from the others.
In {share} percent of the {inputs}, {signal} {predicts} what will go wrong.
There is a warning, however: for {share} percent of the {inputs}, {signal} changes before {errors} occur.
method:
We {propose} {method}: a {first} {keeps} {evidence} while a {second} {decides} what deserves {effort}.
Our {procedure}, {method}, joins a {first} to a {second}.
In {method}, a {second} interrupts the {model} and a {first} {keeps} the {evidence}.
{Method}, which we {propose} here, has a {first} that {keeps} {evidence} and a {second} that {decides}.
result:
On {data} it {lowers} the {errors} by {gain} percent against {rival}, for {cost} percent of the {effort}.
With {cost} percent of the {effort} of {rival}, {gain} percent of the {errors} on {data} are avoided.
{Rival} makes {gain} percent more {errors} on {data} and needs more {effort}.
{Data} sees {gain} percent fewer {errors} than with {rival}.
On {data}, {method} {lowers} the {errors} by {gain} percent against {rival} for {cost} percent of the {effort}.
breadth:
The {advantage} is similar on {data2} and {data3}, whose {inputs} reach {window} {pages}.
So do {data2} and, to a lesser degree, {data3}.
We {confirm} this on {data2} and {data3}.
{Data2} and {data3}, with {inputs} of up to {window} {pages}, {confirm} it.
ablation:
The {first} accounts for {loss} points of the {advantage}.
When the {first} is {removed}, {loss} points disappear.
Most of it, {loss} points, is due to the {first}.
A run in which the {first} is {removed} explains {loss} points of the {advantage}.
limit:
Below {limit} {examples} the {second} falls silent.
With fewer than {limit} {examples} nothing is won.
How to do with fewer than {limit} {examples} remains open.
There is a limit: on fewer than {limit} {examples} the {second} cannot be trained.""")
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
Closest in spirit is {name} {mark}, a {quality} {device} for {material}.
method:
The {first} follows the design of {name} {mark}, with one change.
We initialise the {second} as proposed for {name} {mark}.
The code of {name} {mark} was the basis of our {device}.
experiments:
We compare with {name} {mark}, trained on the same {inputs}.
As a second baseline, {name} {mark} is run with its published settings.
On {some} we quote the numbers of {name} {mark}.""")
# What the sections say besides; each sentence has a detail that no other one has.
TOLD = _banks("""title:
{Method}: {task} of {material} with a {first}
{Task} of {material} by {first} and {second}
method:
The {first} holds at most {m} entries, the oldest of which is dropped when entry {n} arrives.
The threshold is set to {point} on {some} so that {cost} percent of the budget is spent.
The loss adds a price of {point} for each time that the {second} interrupts the {model}.
Entry {n} of the {first} {keeps} the {evidence} that {signal} {predicts} {errors}.
A {quality} {device} in place of the {second} would need {m} parameters more.
After {n} {inputs} of {some} the {first} contains what is needed for the next {m}.
For {task} of {material}, a {quality} {device} lost {point} points on {some}.
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
