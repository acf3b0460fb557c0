"""What papers of the made-up arXiv say: each claim in several wordings for each place where a paper makes it."""

from __future__ import annotations

# A group of words that mean the same -> what one study calls it throughout, so that papers differ in their words as people do.
VOICES: dict[str, tuple[str, ...]] = {
    "inputs": ("inputs", "items", "cases", "instances", "records", "samples", "entries"),
    "errors": ("errors", "mistakes", "failures", "slips", "misreadings", "faults", "blunders"),
    "effort": ("effort", "labour", "computation", "attention", "care", "time", "energy"),
    "procedure": ("procedure", "method", "scheme", "recipe", "algorithm", "approach", "technique"),
    "lowers": ("lowers", "reduces", "cuts", "shrinks", "trims", "diminishes", "brings down"),
    "advantage": ("gain", "benefit", "improvement", "advantage", "profit", "progress", "lead"),
    "evidence": ("hints", "clues", "traces", "indications", "facts", "observations", "remarks"),
    "decides": ("decides", "chooses", "rules", "determines", "settles", "judges", "selects"),
    "costly": ("expensive", "costly", "laborious", "tedious", "painstaking", "burdensome", "troublesome"),
    "difficult": ("difficult", "hard", "doubtful", "stubborn", "tricky", "unclear", "awkward"),
    "observe": ("observe", "notice", "find", "report", "discover", "see", "establish"),
    "examples": ("examples", "annotations", "demonstrations", "labels", "pairs", "exercises", "specimens"),
    "current": ("current", "existing", "modern", "recent", "available", "common", "established"),
    "model": ("model", "network", "predictor", "reader", "machine", "learner", "backbone"),
    "predicts": ("predicts", "announces", "precedes", "foretells", "betrays", "indicates", "heralds"),
    "cheap": ("cheap", "free", "simple", "modest", "light", "plain", "inexpensive"),
    "removed": ("removed", "dropped", "disabled", "deleted", "omitted", "discarded", "cut away"),
    "confirm": ("confirm", "repeat", "verify", "reproduce", "replicate", "check", "corroborate"),
    "pages": ("pages", "screens", "sheets", "minutes", "frames", "rows", "turns"),
    "outputs": ("outputs", "answers", "results", "predictions", "verdicts", "guesses", "replies"),
    "measure": ("measure", "test", "evaluate", "assess", "try", "examine", "study"),
    "propose": ("propose", "introduce", "present", "suggest", "describe", "build", "develop"),
    "trained": ("trained", "fitted", "tuned", "taught", "adjusted", "learned", "optimised"),
    "keeps": ("keeps", "stores", "holds", "collects", "preserves", "retains", "gathers"),
    "returns": ("returns to", "revisits", "rereads", "reopens", "repeats", "reconsiders", "goes back to"),
    "trust": ("trust", "believe", "accept", "rely on", "use", "adopt", "endorse"),
    "rest": ("remaining", "residual", "leftover", "persistent", "lasting", "final", "surviving"),
}
# Claim -> its wordings. Names in braces are facts of a study, or words of its voice.
ABSTRACT: dict[str, tuple[str, ...]] = {
    "problem": (
        "For {task} of {material}, {obstacle} are behind most {errors}.",
        "{Obstacle} make {task} of {material} unreliable.",
        "{Material} contain {obstacle}, from which {task} suffers.",
        "Why does {task} break down on {material}? Because of {obstacle}.",
        "Few people {trust} automatic {task} of {material}, where {obstacle} go unseen.",
        "This paper is about {obstacle} in the {task} of {material}.",
    ),
    "gap": (
        "{Current} {subject} spend the same {effort} on all {inputs}.",
        "Larger {subject} commit the same {errors} with more confidence.",
        "{Current} {subject} ask for {examples} that are {costly}.",
        "Retraining {subject} is {costly}, and the next {inputs} undo it.",
        "No {current} {procedure} tells {difficult} {inputs} from easy ones.",
        "What {current} {subject} lack is doubt.",
    ),
    "signal": (
        "We {observe} that {signal} {predicts} {errors}.",
        "It turns out that {signal}, which is {cheap} to obtain, {predicts} {errors}.",
        "In {share} percent of the {inputs}, {signal} {predicts} what will go wrong.",
        "A {cheap} quantity, {signal}, separates {difficult} {inputs} from the others.",
        "The key is {signal}.",
        "That {signal} {predicts} {errors} has been overlooked so far.",
    ),
    "method": (
        "{Method} has two parts, a {first} that {keeps} {evidence} and a {second} that {decides} what deserves {effort}.",
        "We {propose} {method}: a {first} {keeps} {evidence} while a {second} {returns} {difficult} {inputs}.",
        "Our {procedure}, {method}, joins a {first} to a {second}.",
        "In {method}, a {second} interrupts the {model} and a {first} {keeps} the {evidence}.",
        "We {propose} a {first} and a {second}, together called {method}.",
        "{Method} is a {cheap} {procedure} in which a {second} {decides} and a {first} {keeps} {evidence}.",
    ),
    "result": (
        "On {data} it {lowers} the {errors} by {gain} percent against {rival}, for {cost} percent of the {effort}.",
        "With {cost} percent of the {effort} of {rival}, {gain} percent of the {errors} on {data} are avoided.",
        "Compared with {rival} on {data}, {method} {lowers} the number of {errors} by {gain} percent.",
        "{Data} sees {gain} percent fewer {errors} than with {rival}, and {cost} percent of the {effort}.",
        "{Rival} makes {gain} percent more {errors} on {data} and needs more {effort}.",
    ),
    "breadth": (
        "The {advantage} is similar on {data2} and {data3}, whose {inputs} reach {window} {pages}.",
        "We {confirm} this on {data2} and {data3} with up to {window} {pages}.",
        "{Data2} and {data3}, with {inputs} of {window} {pages}, agree.",
        "So do {data2} and, to a lesser degree, {data3}.",
        "We also {measure} {method} on {data2} and {data3}.",
    ),
    "ablation": (
        "The {first} accounts for {loss} points of the {advantage}.",
        "When the {first} is {removed}, {loss} points disappear.",
        "{Loss} points vanish if the {first} is {removed}.",
        "Most of the {advantage}, {loss} points, is due to the {first}.",
    ),
    "limit": (
        "Below {limit} {examples} the {second} falls silent.",
        "The {second} has to be {trained} on {limit} {examples} at least.",
        "With fewer than {limit} {examples} nothing is won.",
        "How to do with fewer than {limit} {examples} remains open.",
    ),
}
# The introduction motivates the same claims, in the order in which its abstract makes them.
INTRODUCTION: dict[str, tuple[str, ...]] = {
    "problem": (
        "Anyone who handles {material} depends on {task}, and has met {obstacle}.",
        "The {task} of {material} looks solved until one meets {obstacle}.",
        "{Material} are kept for decades, but {task} has to cope with {obstacle} first.",
        "Consider {material}, whose {task} has to deal with {obstacle}.",
    ),
    "gap": (
        "{Current} {subject} spend the same {effort} on all {inputs}, easy or hopeless.",
        "The obvious remedy, larger {subject}, is {costly} and leaves the cause alone.",
        "{Current} {subject} were never told that {difficult} {inputs} deserve a second look.",
    ),
    "signal": (
        "There is a warning, however: {signal} changes before {errors} occur.",
        "While reading wrong {outputs} we came to {observe} {signal}, which {predicts} {share} percent of the {errors}.",
        "At the centre of this paper is {signal}, a {cheap} quantity that {predicts} {errors} and is usually thrown away.",
    ),
    "method": (
        "{Method}, which we {propose} here, reads it with a {first} that {keeps} {evidence} and acts on it with a {second}.",
        "We {propose} {method}, built from a {first}, which {keeps} {evidence}, and a {second}, which {decides}.",
        "Our {procedure} is called {method}; its {first} {keeps} {evidence}, its {second} {decides} where {effort} is due.",
    ),
    "result": (
        "On {data}, {method} {lowers} the {errors} by {gain} percent against {rival} for {cost} percent of the {effort}.",
        "On {data}, {gain} percent of the {errors} of {rival} are avoided with {cost} percent of its {effort}.",
    ),
    "breadth": (
        "{Data2} and {data3}, with {inputs} of up to {window} {pages}, {confirm} it.",
        "What holds for {data} carries over to {data2} and {data3}, where {inputs} reach {window} {pages}.",
    ),
    "ablation": (
        "We show that the {first} accounts for {loss} points of the {advantage}.",
        "A run in which the {first} is {removed} explains {loss} points of the {advantage}.",
    ),
    "limit": (
        "There is a limit: on fewer than {limit} {examples} the {second} cannot be {trained}.",
        "We are open about what fails, a {second} {trained} on fewer than {limit} {examples}.",
    ),
}
# Why a work is cited, by the section that does it: {mark} follows {name}, the work's method.
MOTIVATION = (
    "Their users range from archives to hospitals {mark}.",
    "Early systems needed a rule for every case {mark}.",
    "The cost of an overlooked error has been documented in detail {mark}.",
    "Interest in the problem began with {name} {mark}.",
)
RELATED = (
    "{name} {mark} learns {quality} representations and applies them once.",
    "A {quality} variant of the same idea is due to {name} {mark}, which needs twice the memory.",
    "Labels for single steps are what {name} relies on {mark}.",
    "Others plan ahead: {name} {mark} fixes its effort before it has seen the input.",
    "The theory behind {quality} stopping rules goes back to earlier work {mark}.",
    "Human readers behave in a comparable way, as a study of eye movements found {mark}.",
    "{name} {mark} shares our goal but assumes that {errors} are independent.",
)
BUILDS_ON = (
    "The {first} follows the design of {name} {mark}, with one change.",
    "We initialise the {second} as proposed for {name} {mark}.",
    "Its update rule is borrowed from {name} {mark}.",
    "A proof that it converges can be adapted from earlier work {mark}.",
)
COMPARED = (
    "We compare with {name} {mark}, trained on the same {inputs}.",
    "As a second baseline, {name} {mark} is run with its published settings.",
    "{name} {mark} serves as the upper bound on cost.",
    "For the longest {inputs} we add {name} {mark}.",
    "The evaluation protocol is that of {name} {mark}.",
)
# What the sections say in detail; every sentence names something that is this study's own.
METHOD = (
    "The {first} holds at most {window} entries, the oldest of which is dropped when a new one arrives.",
    "Whenever {signal} exceeds a threshold, {method} passes the input to the {second}.",
    "The threshold is set once on {data} so that {cost} percent of the budget is spent.",
    "In matrix form the {first} is a table with one row for each open question about {obstacle}.",
    "The {second} sees neither the output nor the label, only {signal} and the state of the {first}.",
    "Training alternates between the {first} and the {second} for {runs} rounds.",
    "Because {obstacle} come in clusters, the {second} keeps its decision for {runs} further {inputs}.",
    "If the {first} is empty, {method} reduces to the plain model.",
    "A single pass of the {second} costs less than a hundredth of a pass over {material}.",
    "We write the {evidence} of one page as a vector whose length equals the number of entries in the {first}.",
    "For {task}, an entry of the {first} is resolved as soon as it is confirmed twice.",
    "The loss adds a price of {point} for each time that the {second} interrupts the {model}.",
    "Entry {n} of the {first} stores the position, the wording and the age of an open question.",
    "A {quality} {device} in place of the {second} would need {m} parameters more.",
    "After {n} {inputs} of {some} the {first} contains what is needed for the next {m}.",
    "We tried a {quality} {device} as well, which lost {point} points on {some}.",
    "The {second} has {n} units, and doubling them changes nothing on {some}.",
    "{Inputs} that wait in the {first} are visited again after {n} steps at the latest.",
    "For {material} of more than {m} words, {method} splits the input at paragraphs.",
    "The proof in the {quality} case is short: {signal} is bounded by {point}, so that the {second} stops.",
    "With {n} threads, {method} reads {m} {inputs} of {some} in a second.",
    "A question about {obstacle} is closed if {n} of the {evidence} agree.",
)
EXPERIMENTS = (
    "{Data} contains {material} from {runs} sources, split by source.",
    "All {inputs} of {data2} were read by two people, who agreed in {share} percent of the cases.",
    "{Data3} is smaller; its {inputs} are up to {window} {pages} long.",
    "Each run was repeated {runs} times with other seeds.",
    "Against {rival}, {method} makes {gain} percent fewer {errors} on {data}.",
    "The time for {task} falls to {cost} percent, most of which is saved on easy {material}.",
    "On {data3} the {advantage} is smaller because {obstacle} are rare there.",
    "Where {signal} is noisy, {method} behaves like {rival}.",
    "Most remaining {errors} on {data2} concern {obstacle} that even the annotators missed.",
    "The {second} interrupts the {model} for {share} of a thousand {inputs} of {data}.",
    "Leaving out the {first} costs {loss} points on {data} and more on {data2}.",
    "Replacing the {second} by a coin that is thrown equally often loses the whole gain on {data}.",
    "With fewer than {limit} {examples}, {method} and {rival} cannot be told apart.",
    "The memory of the {first} grows to {window} entries on {data3} and stays there.",
    "A simpler rule that looks at {signal} alone reaches half of the {advantage}.",
    "On {some}, {rival} needs {m} seconds where {method} needs {n}.",
    "Of {m} {errors} on {some}, {n} are due to {obstacle}.",
    "A {quality} {device} in place of the {first} is {point} points worse on {some}.",
    "Split by length, the {advantage} on {some} rises from {point} points for short {inputs} to {n} for long ones.",
    "Two of the {n} sources of {some} account for most of the variance.",
    "Seeds differ by {point} points on {some}, less than any difference that we report.",
    "With {n} percent of the labels, {method} still beats {rival} on {some}.",
    "We inspected {m} interruptions by the {second} and found {n} that were needless.",
    "If {signal} is rounded to {n} levels, nothing changes on {some}.",
    "The {first} was full in {n} of {m} runs on {some}.",
    "Annotators corrected {n} of {m} {outputs} of {method}, and twice as many of {rival}.",
    "On the hardest {n} percent of {some} the error falls by {point} points.",
)
CONCLUSION = (
    "We presented {method}, which uses {signal} to decide where {task} of {material} deserves more {effort}.",
    "Its {first} and its {second} together remove {gain} percent of the {errors} on {data} at {cost} percent of the cost.",
    "The approach needs {limit} examples, and it does not help where {obstacle} are absent.",
    "We hope that {data2} and {data3} will be useful to others who study {task}.",
)
OUTLINE = (
    "What follows describes {method} and then what was measured on {data}.",
    "The later sections describe {method} part by part, and measure it.",
)
RELATED_LEAD = (
    "Work on {task} has dealt with {obstacle} in two ways.",
    "Two lines of work on {material} are close to ours.",
    "How to spend effort on difficult {inputs} has been studied outside {task}, too.",
)
RELATED_CLOSE = (
    "Unlike all of these, {method} needs {signal} and nothing else.",
    "None of them looks at {signal}, on which {method} rests.",
    "In contrast, the {first} of {method} remembers what was already asked.",
)
ASIDES = (
    "Whoever reads {m} {pages} of {material} in a row overlooks {n} of them.",
    "Some of it is luck, as {n} runs with other seeds show.",
    "The {device} of earlier work was never meant for {material}.",
    "A careful reader needs {n} seconds for each of the {inputs}.",
    "On {material}, {n} of every hundred {inputs} are of this kind.",
    "This is no accident, as {obstacle} leave a trace in {signal}.",
    "A {quality} {device} would be the obvious choice, but it forgets after {n} {inputs}.",
    "Those who label {material} for a living confirm it.",
    "It took {n} attempts until the {first} was small enough.",
    "In {some}, the effect can be seen with the naked eye.",
    "The price of {task} is paid by those who correct its {errors}.",
    "Neither more data nor a {quality} {device} changes that.",
    "We return to {some} when the {second} is discussed.",
)
