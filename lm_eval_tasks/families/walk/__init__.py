"""Walk: of the papers shown, which cite a work where the question says? The answer is a set, which may be empty."""

from lm_eval_tasks.base.contract import NONE, RETRIEVED, TITLE_SEARCH
from lm_eval_tasks.families.descriptor import Core, Metric, Target
from lm_eval_tasks.families.reading import ANSWER_TOKENS, BLIND, RATES, Reading, reading_family

_MODULE = "families.walk.answering"
PLACES, RULES = "places", "rules"
FAMILY = reading_family(
    Target("walk", "Walk", ANSWER_TOKENS, (NONE, RETRIEVED), RETRIEVED),
    core=(Core("Walk-128K", 400), Core("Walk-256K", 400)),
    metrics=(
        Metric(
            "exact",
            "Exact sets",
            "higher",
            _MODULE,
            of_answer=True,
            headline=True,
            floors=("exact_blind", "exact_title_search", "exact_places"),
            zero=("exact_blind", "exact_title_search", "exact_places"),
            usual="exact_match",
        ),
        Metric(
            "set_f1",
            "Set F1",
            "higher",
            _MODULE,
            of_answer=True,
            headline=True,
            floors=("set_f1_blind", "set_f1_title_search", "set_f1_places"),
            zero=("set_f1_blind", "set_f1_title_search", "set_f1_places"),
        ),
        Metric("exact_strict", "Exact sets, answers read strictly", "higher", _MODULE, of_answer=True),
        Metric("exact_blind", "Exact sets of the best constant", "lower", _MODULE),
        Metric("exact_title_search", "Exact sets of a search for titles", "neither", _MODULE, baseline=TITLE_SEARCH),
        Metric("exact_places", "Exact sets by the places of citations", "neither", _MODULE, baseline=PLACES),
        Metric("set_f1_blind", "Set F1 of the best constant", "lower", _MODULE),
        Metric("set_f1_title_search", "Set F1 of a search for titles", "lower", _MODULE),
        Metric("set_f1_places", "Set F1 by the places of citations", "lower", _MODULE),
        *RATES,
    ),
    baselines=(BLIND, TITLE_SEARCH, PLACES, RULES),
    more=[Reading("Walk-Controls-128K", "walk", 128, controls=True)],
)
METRIC_LIST = FAMILY.metric_list()
