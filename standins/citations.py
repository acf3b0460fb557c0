"""Reference strings made from records: six citation styles, and the damage that reading a PDF does."""

from __future__ import annotations

import random

from builder.records import Paper

_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
_VENUES = (
    "Advances in Neural Information Processing Systems",
    "Proceedings of ACL",
    "CVPR",
    "arXiv preprint",
    "Journal of Machine Learning Research",
)


def _initials(name: str) -> tuple[str, str]:
    *given, family = name.split()
    return " ".join(f"{part[0]}." for part in given), family


def _names(paper: Paper, inverted: bool, most: int = 6) -> list[str]:
    out = []
    for name in paper.authors[:most]:
        given, family = _initials(name)
        out.append((f"{family}, {given}" if inverted else f"{given} {family}").strip(" ,"))
    return out


def _joined(names: list[str], total: int, last: str) -> str:
    if total > len(names):
        return ", ".join(names) + " et al."
    return ", ".join(names[:-1]) + f"{last}{names[-1]}" if len(names) > 1 else names[0]


def ieee(paper: Paper, title: str, venue: str) -> str:
    return f"[7] {_joined(_names(paper, False), len(paper.authors), ', and ')}, “{title},” in {venue}, {paper.published.year}, pp. 1–12."


def acl(paper: Paper, title: str, venue: str) -> str:
    names = list(paper.authors[:8])
    return (
        f"{_joined(names, len(paper.authors), ', and ')}. {paper.published.year}. {title}. In {venue}, pages 101–113."
    )


def apa(paper: Paper, title: str, venue: str) -> str:
    return f"{_joined(_names(paper, True), len(paper.authors), ', & ')} ({paper.published.year}). {title}. {venue}, 12(3), 45–67."


def icml(paper: Paper, title: str, venue: str) -> str:
    return f"{_joined(_names(paper, True), len(paper.authors), ', and ')}. {title}. {venue}, {paper.published.year}."


def springer(paper: Paper, title: str, venue: str) -> str:
    return f"12. {', '.join(_names(paper, True))}: {title}. In: {venue}. pp. 3–15 ({paper.published.year})"


def plain(paper: Paper, title: str, venue: str) -> str:
    names = list(paper.authors[:5])
    return f"[31] {_joined(names, len(paper.authors), ' and ')}. {title}. {venue}, {paper.published.year}."


STYLES = (ieee, acl, apa, icml, springer, plain)
DAMAGES = ("none", "hyphen", "space", "ligature", "lost ligature", "truncated", "subtitle", "case")


def damage(text: str, kind: str, rng: random.Random) -> str:
    """Return a title as a PDF, or a hurried author, gives it."""
    words = text.split()
    if kind == "hyphen":
        long = [i for i, word in enumerate(words) if len(word) >= 8]
        if long:
            i = rng.choice(long)
            cut = rng.randint(3, len(words[i]) - 3)
            words[i] = f"{words[i][:cut]}- {words[i][cut:]}"
        return " ".join(words)
    if kind == "space" and len(words) > 3:
        for _ in range(2):
            i = rng.randrange(len(words) - 1)
            words[i : i + 2] = [words[i] + words[i + 1]]
        return " ".join(words)
    if kind in ("ligature", "lost ligature"):
        for letters, sign in _LIGATURES.items():
            text = text.replace(letters, sign if kind == "ligature" else " ")
        return text
    if kind == "truncated" and len(words) > 7:
        return " ".join(words[: max(6, len(words) * 3 // 4)])
    if kind == "subtitle" and ": " in text and len(text.split(": ")[0]) > 24:
        return text.split(": ")[0]
    if kind == "case":
        return text.capitalize()
    return text


def citation(paper: Paper, rng: random.Random) -> tuple[str, str, str]:
    """Return (reference string, style, damage) of a record."""
    style, kind = rng.choice(STYLES), rng.choice(DAMAGES)
    return style(paper, damage(paper.title, kind, rng), rng.choice(_VENUES)), style.__name__, kind
