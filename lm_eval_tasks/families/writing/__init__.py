"""The writing tasks: a paper's title, abstract, introduction or related work, from the rest of it (AcademicEval paper).

ROUGE-L and BERTScore are the columns of the paper (section 4.3). Models are ranked by ROUGE-L over content words: of the metrics
that need no model it tells texts apart best (docs/metrics.md). The floors show what a score is worth: the answer against other
papers' targets ("random pair"), other papers' targets, human texts, as the answer ("wrong paper"), and a text of function words alone.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from lm_eval_tasks.base.contract import LEAD, LIKELIHOOD, Context
from lm_eval_tasks.families.compressors import COMPRESSORS
from lm_eval_tasks.families.descriptor import (
    CAPPED,
    CUT_SHARE,
    EMPTY,
    TRUNCATED,
    UNFINISHED,
    ByLikelihood,
    Core,
    Family,
    Metric,
)
from lm_eval_tasks.families.writing.settings import SETTINGS, TARGETS, contexts_of, groups, prompt_name_of, tasks
from lm_eval_tasks.families.writing.writing_row import WritingOwn

COPY_DEMO, RANDOM_SENTENCE, FUNCTION_WORDS = "copy-demo", "random-sentence", "function-words"
_MODULE = "families.writing.answering"
_COSINE = (-1.0, 1.0)
METRICS = (
    Metric(
        "rouge_l_content",
        "ROUGE-L, content words",
        "higher",
        _MODULE,
        of_answer=True,
        headline=True,
        floors=("rouge_l_content_wrong_paper", "rouge_l_content_lead", "rouge_l_content_sentences"),
        zero=("rouge_l_content_wrong_paper", "rouge_l_content_lead", "rouge_l_content_sentences"),
    ),
    Metric(
        "rouge_l",
        "ROUGE-L",
        "higher",
        _MODULE,
        of_answer=True,
        headline=True,
        floors=("rouge_l_random_pair", "rouge_l_wrong_paper", "rouge_l_function_words"),
        zero=("rouge_l_wrong_paper", "rouge_l_function_words"),
        usual="rougeL",
    ),
    Metric(
        "bertscore",
        "BERTScore",
        "higher",
        _MODULE,
        headline=True,
        floors=("bertscore_random_pair", "bertscore_wrong_paper", "bertscore_function_words"),
        zero=("bertscore_wrong_paper", "bertscore_function_words"),
        usual="bert_score",
        limits=_COSINE,
    ),
    Metric("rouge_l_content_wrong_paper", "ROUGE-L, content words, wrong paper", "lower", _MODULE),
    Metric(
        "rouge_l_content_lead", "ROUGE-L, content words, of the body's first words", "neither", _MODULE, baseline=LEAD
    ),
    Metric(
        "rouge_l_content_sentences",
        "ROUGE-L, content words, of sentences drawn from the body",
        "neither",
        _MODULE,
        baseline=RANDOM_SENTENCE,
    ),
    Metric("rouge_l_random_pair", "ROUGE-L, random pair", "lower", _MODULE),
    Metric("rouge_l_wrong_paper", "ROUGE-L, wrong paper", "lower", _MODULE),
    Metric("bertscore_random_pair", "BERTScore, random pair", "lower", _MODULE, limits=_COSINE),
    Metric("bertscore_wrong_paper", "BERTScore, wrong paper", "lower", _MODULE, limits=_COSINE),
    Metric("rouge_l_function_words", "ROUGE-L, function words", "lower", _MODULE),
    Metric("bertscore_function_words", "BERTScore, function words", "lower", _MODULE, limits=_COSINE),
    CAPPED,
    TRUNCATED,
    CUT_SHARE,
    EMPTY,
    UNFINISHED,
    Metric("rouge_1", "ROUGE-1", "higher", _MODULE, usual="rouge1", of_answer=True),
    Metric("rouge_2", "ROUGE-2", "higher", _MODULE, usual="rouge2", of_answer=True),
    Metric("rouge_lsum", "ROUGE-Lsum", "higher", _MODULE, usual="rougeLsum", of_answer=True),
    Metric("length_ratio", "Length as a share of the target's", "one", _MODULE, limits=None),
    Metric("copied_from_input", "Longest run copied from the input", "lower", _MODULE, limits=None),
    Metric("copied_from_demonstrations", "Longest run copied from demonstrations", "lower", _MODULE, limits=None),
)
_BITS = (0.0, math.inf)
_BY_LIKELIHOOD = "families.writing.likelihood"
# Their names end in those of the programs that score so.
_COMPRESSED = tuple(f"bits_per_byte_{name}" for name in COMPRESSORS)
BITS_PER_BYTE = Metric(
    "bits_per_byte",
    "Bits per byte",
    "lower",
    _BY_LIKELIHOOD,
    of_answer=True,
    headline=True,
    floors=_COMPRESSED,
    zero=_COMPRESSED,
    limits=_BITS,
)
LIKELIHOOD_METRICS = (
    BITS_PER_BYTE,
    *(
        Metric(metric, f"Bits per byte of {name}", "neither", _BY_LIKELIHOOD, baseline=name, limits=_BITS)
        for metric, name in zip(_COMPRESSED, COMPRESSORS, strict=True)
    ),
    Metric("copied_share", "Share of the text that the prompt shows", "neither", _BY_LIKELIHOOD),
    TRUNCATED,
    CUT_SHARE,
)
_USUAL = {prompt_name_of(setting.name) for setting in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingFamily(Family):
    """The writing tasks."""

    def counted(self, names: Collection[str], core: Collection[str]) -> tuple[str, ...]:
        """Return one setting of each target: that with demonstrations by co-authors if there is one, else the first."""
        of_target = [[s for s in SETTINGS if s.task == target.name and s.name in names] for target in TARGETS]
        chosen = (sorted(each, key=lambda s: not (s.co_author and not s.random))[:1] for each in of_target)
        return tuple(setting.name for first in chosen for setting in first)

    def contexts_of(self, name: str) -> tuple[Context, ...]:
        [setting] = [setting for setting in SETTINGS if setting.name == name]
        return contexts_of(setting)

    def is_usual(self, prompt_name: str) -> bool:
        return prompt_name in _USUAL


FAMILY = WritingFamily(
    name="writing",
    board="writing",
    own=WritingOwn,
    targets=TARGETS,
    configurations=SETTINGS,
    tasks=tuple(tasks()),
    groups=tuple(groups()),
    core=tuple(Core(name, 100) for name in ("Title-31K-G", "Abs-29K-G", "Intro-28K-G", "Related-53K-G")),
    metrics=METRICS,
    baselines=(LEAD, COPY_DEMO, RANDOM_SENTENCE, FUNCTION_WORDS),
    likelihood=ByLikelihood("bpb", "_likelihood_yaml", LIKELIHOOD_METRICS, COMPRESSORS, spread=0.03),
)
METRIC_LIST, GROUP_LIST = FAMILY.metric_list(), FAMILY.group_list()
LIKELIHOOD_METRIC_LIST, LIKELIHOOD_GROUP_LIST = FAMILY.metric_list(LIKELIHOOD), FAMILY.group_list(LIKELIHOOD)
