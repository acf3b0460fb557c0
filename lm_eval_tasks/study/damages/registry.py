"""Every damage and every harmless change, registered once."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from lm_eval_tasks.study.damages import facts, harmless, structure
from lm_eval_tasks.study.damages.base import Damage, Damaged, Material


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to change a text.

    Attributes:
        label: its name for display.
        strength: the usual one, from 0 to 1.
        tasks: that it makes sense for; empty for all.
    """

    name: str
    label: str
    apply: Damage
    strength: float = 1.0
    tasks: tuple[str, ...] = ()


DAMAGES: tuple[Kind, ...] = (
    Kind("numbers", "numbers changed", facts.numbers),
    Kind("transposed", "digits transposed", facts.transposed),
    Kind("percentages", "percentages changed", facts.percentages),
    Kind("elsewhere", "numbers from elsewhere in the paper", facts.elsewhere),
    Kind("counts", "counts in words changed", facts.counts_in_words),
    Kind("names", "names swapped for another paper's", facts.names),
    Kind("citations", "citations swapped", facts.citations, tasks=("related",)),
    Kind("negated", "claims negated", facts.negate_claims, 0.5),
    Kind("comparisons", "comparisons reversed", facts.comparisons),
    Kind("shuffled", "sentences shuffled", structure.shuffle_sentences),
    Kind("dropped", "half of the sentences dropped", structure.drop_sentences, 0.5),
    Kind("foreign_third", "last third from another paper", structure.foreign_third),
    Kind("own_third", "last third from another paper of the author", structure.own_third),
    Kind("padding", "empty sentences added", structure.add_padding, 0.5),
    Kind("repetition", "sentences repeated", structure.repetition, 0.5),
)
HARMLESS: tuple[Kind, ...] = (
    Kind("quotes", "typographic quotes", harmless.quotes),
    Kind("spelling", "British or American spelling", harmless.spelling),
    Kind("split", "sentences split", harmless.split),
    Kind("synonyms", "synonyms", harmless.synonyms),
    Kind("written", "numbers written in another way", harmless.numbers_written),
    Kind("abbreviated", "terms abbreviated", harmless.abbreviated),
)


def change_text(kind: Kind, text: str, material: Material, seed: str, strength: float | None = None) -> Damaged | None:
    """A text changed in one way; always the same for the same text and seed. None if the text has no place for it.

    Args:
        strength: the share of the places that are changed; the kind's own by default.
    """
    if not text.strip():
        return None
    chance = random.Random(hashlib.sha256(f"{seed}|{kind.name}|{text}".encode()).digest())
    damaged = kind.apply(text, material, kind.strength if strength is None else strength, chance)
    return damaged if damaged is not None and damaged.text != text else None
