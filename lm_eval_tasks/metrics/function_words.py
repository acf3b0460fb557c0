"""English words without content of their own, and a text of nothing else: what overlap is worth that says nothing.

Words of closed classes: articles, pronouns, prepositions, conjunctions, auxiliaries, and adverbs that only join or grade. Words that
deny ("not", "no", "without") are not among them.
"""

from __future__ import annotations

_CLASSES = (
    "a an the this that these those each every either both all any some such same other another own",
    "i me my mine we us our ours you your yours he him his she her hers it its they them their theirs myself ourselves "
    "yourself yourselves himself herself itself themselves one ones who whom whose which what whatever whichever",
    "of in to for with on by at from as into onto over under between among through during before after above below about "
    "against across along around within toward towards upon via per beyond beside besides until since despite than "
    "out off up down",
    "and or but so yet if because although though while whereas unless whether when whenever where wherever how why "
    "only also thus hence therefore however moreover furthermore then there here",
    "am is are was were be been being do does did doing done have has had having can could may might must shall should "
    "will would",
    "very more most less least much many few too just even still again further rather quite almost already often well",
    # What is left of contractions that deny nothing.
    "s d ll m re ve",
)
FUNCTION_WORDS = frozenset(word for words in _CLASSES for word in words.split())
# In the order of running text: such an order has longer subsequences in common with real texts.
_CYCLE = (
    "we the of the and in a of to the that is for the of and with a the on by as to the of in and are the which this from an "
    "the of our to and"
).split()


def text_of(count: int) -> str:
    """A text of that many function words, always the same."""
    return " ".join(_CYCLE[i % len(_CYCLE)] for i in range(count))
