"""Next: of many passages in random order, which one follows another in its paper?"""

from lm_eval_tasks.base.contract import RETRIEVED
from lm_eval_tasks.families.descriptor import SPREAD_OF_CHOICES, Core, Target
from lm_eval_tasks.families.reading import ANSWER_TOKENS, SMALL, WHOLE_PAPERS, reading_family

FAMILY = reading_family(
    # A row asks about up to 20 passages. What is asked about is part of the context, so that there is no question without it.
    Target(
        "next",
        "Next",
        ANSWER_TOKENS,
        (RETRIEVED,),
        RETRIEVED,
        spread=SPREAD_OF_CHOICES / 20**0.5,
        measured_in="share right",
    ),
    core=(Core("Next-128K", 100),),
    word="Passage",
    asked_word="Passage",
    sizes=SMALL | WHOLE_PAPERS,
)
METRIC_LIST = FAMILY.metric_list()
