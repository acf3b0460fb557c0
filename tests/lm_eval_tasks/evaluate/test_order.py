"""The order in which prompts reach a server."""

from __future__ import annotations

import random

from lm_eval_tasks.evaluate.generation import by_beginning


def test_prompts_that_begin_alike_follow_one_another() -> None:
    contexts = [f"{name} " * (400 + 50 * number) for number, name in enumerate("abcde")]
    prompts = [f"{context} question {number}{'!' * number}" for context in contexts for number in range(7)]
    random.Random(7).shuffle(prompts)
    order = by_beginning(prompts)
    assert sorted(order) == list(range(len(prompts)))
    first = [prompts[i][0] for i in order]
    # The longest context first, so that what does not fit shows at once.
    assert first == [name for name in "edcba" for _ in range(7)]
    assert by_beginning([]) == []
