"""The order in which prompts are asked, so that a server computes what several of them begin with once.

vLLM, SGLang and the like keep what prompts have in common at their beginning (prefix caching), as long as it is not displaced. lm-eval
sorts by length, which scatters the questions about one context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_beginning(prompts: Sequence[str]) -> list[int]:
    """Places of prompts in an order in which those that begin alike follow one another, the group with the longest prompt first.

    Prompts are alike if at least half of the shorter one is what the other begins with.
    """
    groups = list(_groups(prompts))
    groups.sort(key=lambda group: -max(len(prompts[i]) for i in group))
    return [i for group in groups for i in group]


def _groups(prompts: Sequence[str]) -> Iterator[list[int]]:
    group: list[int] = []
    for i in sorted(range(len(prompts)), key=lambda i: (prompts[i], i)):
        if group and not _are_alike(prompts[group[-1]], prompts[i]):
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _are_alike(one: str, other: str) -> bool:
    half = min(len(one), len(other)) // 2
    return one[:half] == other[:half]
