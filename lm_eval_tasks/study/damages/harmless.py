"""Changes that leave a text as good as it was."""

from __future__ import annotations

import random
import re

from lm_eval_tasks.study.damages.base import Damaged, Material, replace_spans, some

_SPELLINGS = (
    ("behavior", "behaviour"),
    ("color", "colour"),
    ("modeling", "modelling"),
    ("modeled", "modelled"),
    ("labeled", "labelled"),
    ("labeling", "labelling"),
    ("center", "centre"),
    ("optimize", "optimise"),
    ("optimizes", "optimises"),
    ("optimization", "optimisation"),
    ("generalize", "generalise"),
    ("generalization", "generalisation"),
    ("analyze", "analyse"),
    ("analyzes", "analyses"),
    ("analyzing", "analysing"),
    ("summarize", "summarise"),
    ("utilize", "utilise"),
    ("utilizes", "utilises"),
    ("utilizing", "utilising"),
    ("recognize", "recognise"),
    ("characterize", "characterise"),
    ("minimize", "minimise"),
    ("maximize", "maximise"),
    ("favor", "favour"),
    ("defense", "defence"),
    ("organize", "organise"),
    ("emphasize", "emphasise"),
    ("neighboring", "neighbouring"),
    ("artifact", "artefact"),
    ("artifacts", "artefacts"),
    ("visualize", "visualise"),
    ("visualization", "visualisation"),
    ("categorize", "categorise"),
    ("customized", "customised"),
)
_SYNONYMS = (
    ("however", "nevertheless"),
    ("moreover", "furthermore"),
    ("thus", "therefore"),
    ("shows", "demonstrates"),
    ("show", "demonstrate"),
    ("use", "employ"),
    ("uses", "employs"),
    ("paper", "article"),
    ("method", "technique"),
    ("important", "significant"),
    ("usually", "typically"),
    ("often", "frequently"),
    ("many", "numerous"),
    ("big", "large"),
    ("need", "require"),
    ("needs", "requires"),
    ("main", "principal"),
    ("propose", "introduce"),
    ("proposes", "introduces"),
    ("approach", "procedure"),
    ("novel", "new"),
    ("obtain", "gain"),
    ("but", "yet"),
)
_JOINT = re.compile(r", (?=(?:and|but|while|which) )")


def quotes(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Typographic quotes, apostrophes and dashes for plain ones, or plain ones for those."""
    plain = {"“": '"', "”": '"', "’": "'", "‘": "'", "–": "-"}
    count = sum(text.count(mark) for mark in plain)
    if count:
        return Damaged(text.translate({ord(a): b for a, b in plain.items()}), count)
    changed, count = re.subn(r"(?<=\w)'(?=\w)", "’", text)
    changed, opened = re.subn(r'"([^"]*)"', "“\\1”", changed)
    return Damaged(changed, count + opened) if count + opened else None


def spelling(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """British for American spelling, or the other way."""
    both = {**{b: a for a, b in _SPELLINGS}, **dict(_SPELLINGS)}
    return _swap_words(text, {a: b for a, b in both.items() if a != b}, strength, rng)


def synonyms(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Words of like meaning."""
    return _swap_words(text, dict(_SYNONYMS), strength, rng)


def split(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Two sentences in place of one."""
    spans = [match.span() for match in _JOINT.finditer(text) if text[match.end() : match.end() + 4] in ("and ", "but ")]
    chosen = [spans[i] for i in some(len(spans), strength, rng)]
    if not chosen:
        return None
    parted = replace_spans(text, chosen, [". "] * len(chosen))
    return Damaged(re.sub(r"(?<=\. )(?:and|but) (\w)", lambda match: match[1].upper(), parted), len(chosen))


def _swap_words(text: str, changes: dict[str, str], strength: float, rng: random.Random) -> Damaged | None:
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(changes, key=len, reverse=True))})\b")
    matches = list(pattern.finditer(text))
    chosen = [matches[i] for i in some(len(matches), strength, rng)]
    return (
        Damaged(
            replace_spans(text, [match.span() for match in chosen], [changes[match[0]] for match in chosen]),
            len(chosen),
        )
        if chosen
        else None
    )
