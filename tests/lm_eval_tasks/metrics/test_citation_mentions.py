from __future__ import annotations

import pytest

from lm_eval_tasks.families.writing.citation_mentions import Mentions, mentions

TITLES = [
    "BERT: Pre-training of Deep Bidirectional Transformers",
    "Attention Is All You Need",
    "A Simple Framework for Contrastive Learning: Revisited Again and Again",
    "Longformer",
]


@pytest.mark.parametrize(
    ("answer", "mentioned", "others"),
    [
        ("", 0, 0),
        ("BERT reads both ways.", 1, 0),
        ("The bert of a small town.", 0, 0),
        ("As shown in attention is all you need, attention suffices.", 1, 0),
        ("Work falls in two groups [0, 2]. Another is [3].", 3, 0),
        ("Work falls in groups [1-4].", 4, 0),
        ("Target Citation 1 and Target Citation 2 differ.", 2, 0),
        ("See [17] for more.", 0, 1),
        ("Vaswani et al. (2017) began it. Smith and Doe, 2020 went on.", 0, 2),
        ("BERT (Devlin et al., 2019) reads both ways.", 1, 0),
        ("BERT reads both ways. Longformer (Beltagy et al., 2020) is long. Jones et al. (2021) disagree.", 2, 1),
        ("In 2019 the field changed, in March, 2020 again.", 0, 0),
    ],
)
def test_mentions(answer: str, mentioned: int, others: int) -> None:
    assert mentions(answer, TITLES) == Mentions(4, mentioned, others)


def test_shares() -> None:
    found = Mentions(given=8, mentioned=6, others=2)
    assert (found.mentioned_share, found.other_share) == (0.75, 0.25)
    assert (Mentions(0, 0, 0).mentioned_share, Mentions(3, 0, 0).other_share) == (0.0, 0.0)
