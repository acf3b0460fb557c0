"""What the rows of a dataset contain besides plain texts: the contract between their builders and their readers."""

from typing import Literal, get_args

# Replaces the citation in a SCALAR question.
MASK = "**[MASKED_CITATION]**"
# `candidate_text` of a SCALAR row whose candidates show only their body, without a title.
BODY = "body"
# The ways to answer SCALAR's questions without reading, see `families.scalar.shortcuts`; and with one of each reading family.
OfScalar = Literal["bm25-local", "name-local", "embed-local"]
Shortcut = Literal[OfScalar, "title-search", "bm25-parts"]
OF_SCALAR: tuple[OfScalar, ...] = get_args(OfScalar)
BM25_LOCAL, NAME_LOCAL, EMBED_LOCAL = OF_SCALAR
TITLE_SEARCH: Shortcut = "title-search"
BM25_PARTS: Shortcut = "bm25-parts"
# The model type whose answers were made elsewhere, and the argument that names their file.
GIVEN = "answers"
# What a round measures when it is built: of SCALAR's questions, of which popularity needs the citations of the whole round; and of
# texts, what the first words of the body score.
Measured = Literal[OfScalar, "popularity", "lead"]
POPULARITY: Measured = "popularity"
LEAD: Measured = "lead"
# Ending of the configurations that hold rows of another one by id alone.
IDS = "-ids"
# The configuration with the papers that rows of the reading families show parts of.
PAPERS = "Papers"
# How the parts of such a row become a text (`families.reading.prompt`): raised with any change to that.
PARTS_VERSION = 1
# The kind of source whose papers are made up.
MADE_UP = "sample"
# The finish reason of an answer that ended at its cap.
CAPPED = "length"
Task = Literal["title", "abs", "intro", "related"]
WRITING_TASKS: tuple[Task, ...] = get_args(Task)
Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
# What manifests call the rows with the texts that others show.
PAPERS_TASK = "papers"
# What a round may contain: everything (for private use), what may be redistributed for free, what may be redistributed, no text.
Licenses = Literal["all", "noncommercial", "redistributable", "none"]
# The file next to the data that says what is in it.
MANIFEST = "manifest.json"
Context = Literal["full", "none", "other", "500w", "start", "3000w", "6000w", "12000w", "local", "retrieved"]
CONTEXTS: tuple[Context, ...] = get_args(Context)
# All of it, nothing, the beginning of another paper, so many first words of the paper (its start are 1,500), what is around the question,
# or what a search finds.
FULL, NONE, OTHER, START = CONTEXTS[:3] + CONTEXTS[4:5]
LOCAL, RETRIEVED = CONTEXTS[-2:]
SIZED: tuple[Context, ...] = CONTEXTS[3:-2]
WORDS: dict[str, int] = dict(zip(SIZED, (500, 1500, 3000, 6000, 12000), strict=True))
# Another name of a context.
CALLED: dict[str, Context] = {"1500w": START}
# How a row is asked: an answer is generated, or the likelihood of a given text is.
Way = Literal["generated", "likelihood"]
WAYS: tuple[Way, ...] = get_args(Way)
GENERATED, LIKELIHOOD = WAYS


def paper_of(id_: str) -> str:
    """Return the paper of a row's id: behind a "#" stands what is asked about it."""
    return id_.partition("#")[0]
