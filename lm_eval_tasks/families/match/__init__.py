"""Match: the citations of a paper are masked; which of the papers shown belongs to which mask?"""

from lm_eval_tasks.base.contract import LOCAL, NONE
from lm_eval_tasks.families.descriptor import SPREAD_OF_CHOICES, Core, Target
from lm_eval_tasks.families.reading import ANSWER_TOKENS, reading_family

FAMILY = reading_family(
    # A row asks about three to five masks.
    Target(
        "match",
        "Match",
        ANSWER_TOKENS,
        (NONE, LOCAL),
        LOCAL,
        spread=SPREAD_OF_CHOICES / 4**0.5,
        measured_in="share right",
    ),
    core=(Core("Match-128K", 100, masks=100),),
    asked_word="Mask",
    shows_cited=True,
)
METRIC_LIST = FAMILY.metric_list()
