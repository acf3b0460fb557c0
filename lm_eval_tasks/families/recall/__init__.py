"""Recall: does a model still use what it has read, when more text stands around it?

A text by a paper's authors is scored by likelihood behind the paragraphs that state its numbers and names, alone, within longer and longer
contexts of other papers, and with these paragraphs taken away. What is recalled is the bits that these spans need less than without.
Evidence, its place and the length of the context are each held, so that their effects do not mix (LongPPL, arXiv 2410.23771, looks at key
tokens without taking evidence away).
"""

import math
from dataclasses import dataclass

from lm_eval_tasks.base.contract import LIKELIHOOD
from lm_eval_tasks.families.compressors import PPMD
from lm_eval_tasks.families.descriptor import (
    ByLikelihood,
    Configuration,
    Core,
    Family,
    Kept,
    Metric,
    Target,
    Task,
    TaskGroup,
    slug_of,
)
from lm_eval_tasks.families.recall.recall_row import PLACES as ROW_PLACES
from lm_eval_tasks.families.recall.recall_row import RecallOwn

# Of contexts, in units of 1,024 tokens.
SIZES = {"4K": 4, "8K": 8, "16K": 16, "32K": 32, "64K": 64, "128K": 128, "256K": 256, "512K": 512, "1M": 1024}
# The size in which each row is asked with its evidence at every place.
PLACES_SIZE = "8K"
_CORE_SIZES = ("Recall-8K", "Recall-32K", "Recall-128K")
_MODULE = "families.recall.answering"
_BITS = (0.0, math.inf)


@dataclass(frozen=True, slots=True)
class Recall(Configuration):
    """One configuration of the dataset.

    Attributes:
        size: of the context, in units of 1,024 tokens; 0 for the evidence alone.
        is_without: whether paragraphs of other papers stand in place of the evidence.
        at_places: whether each row is asked with its evidence at every place.
    """

    task: str = "recall"
    size: int = 0
    is_without: bool = False
    at_places: bool = False


ALONE, WITHOUT = Recall("Recall-Alone"), Recall("Recall-Without", is_without=True)
SIZED = tuple(Recall(f"Recall-{name}", size=size) for name, size in SIZES.items())
WITHOUTS = tuple(Recall(f"Recall-Without-{name}", size=size, is_without=True) for name, size in SIZES.items())
PLACES = Recall(f"Recall-Places-{PLACES_SIZE}", size=SIZES[PLACES_SIZE], at_places=True)
CONFIGURATIONS = (ALONE, *SIZED, PLACES, WITHOUT, *WITHOUTS)


def _bits(name: str, label: str, *, headline: bool = False) -> Metric:
    return Metric(name, label, "lower", _MODULE, headline=headline, limits=_BITS, of_answer=True)


METRICS = (
    _bits("span_bits", "Bits of a number or name", headline=True),
    _bits("span_bits_numbers", "Bits of a number"),
    _bits("span_bits_names", "Bits of a name"),
    _bits("span_bits_words", "Bits of a rare word"),
    _bits("span_bits_once", "Bits of what the evidence has once"),
    _bits("span_bits_more", "Bits of what the evidence has more often"),
    Metric("straddling", "Spans that begin or end within a token", "neither", _MODULE),
    # What lm-eval's own sums give too.
    _bits("text_bits", "Bits per byte of the whole text", headline=True),
)
TARGET = Target("recall", "recall", 0, spread=2.5, measured_in="bits")
_TASKS = tuple(
    Task("recall", f"academiceval_{slug_of(each.name)}", each.name, 0, way=LIKELIHOOD) for each in CONFIGURATIONS
)
KEPT = Kept(
    ALONE.name,
    WITHOUT.name,
    {each.name: each.size for each in SIZED},
    {each.name: without.name for each, without in zip(SIZED, WITHOUTS, strict=True)},
    PLACES.name,
    ROW_PLACES,
    {"span_bits_words": "rare words", "span_bits_once": "stated once", "span_bits_more": "stated more often"},
)
FAMILY = Family(
    name="recall",
    board=None,
    own=RecallOwn,
    targets=(TARGET,),
    configurations=CONFIGURATIONS,
    tasks=_TASKS,
    groups=(TaskGroup("recall", "academiceval_recall", tuple(task.name for task in _TASKS)),),
    metrics=METRICS,
    baselines=(),
    core=tuple(Core(name, 60, way=LIKELIHOOD) for name in (ALONE.name, WITHOUT.name, *_CORE_SIZES)),
    likelihood=ByLikelihood("", "_likelihood_yaml", METRICS, (PPMD,), spread=2.5),
    kept=KEPT,
)
LIKELIHOOD_METRIC_LIST = FAMILY.metric_list(LIKELIHOOD)
