"""`bert_score`: the internals that we use.

The library scores pairs and embeds every text of each pair. We embed a text once, with its model, its tokenizer and its
way of encoding. A public way would be a function that gives the token embeddings of texts.
"""

from collections.abc import Sequence
from typing import Any


def load(model: str, layers: int | None) -> tuple[Any, Any]:
    """Return (tokenizer, model cut after its layer) as `BERTScorer` loads them; with `layers` None, that which it has tuned for the
    model.
    """
    from bert_score import BERTScorer

    loaded = BERTScorer(model_type=model, num_layers=layers)
    return loaded._tokenizer, loaded._model.eval()


def tuned_layers() -> dict[str, int]:
    """Return model -> the layer whose states the library compares."""
    from bert_score.utils import model2layers

    return dict(model2layers)


def encode(tokenizer: Any, text: str) -> list[int]:
    """Return the ids of a text's tokens, special ones included."""
    from bert_score.utils import sent_encode

    return list(sent_encode(tokenizer, text))


def pad(ids: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Return (ids, attention mask), both of shape (texts, tokens)."""
    from bert_score.utils import padding

    together, _, mask = padding(ids, pad)
    return together, mask
