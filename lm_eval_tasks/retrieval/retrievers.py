"""The retrievers: what each offers; those that count words, BM25 and TF-IDF, over the chunks of one sample; and those that compare
embeddings, DPR, Contriever, Dragon, and any sentence-transformers model.

Embeddings are compared by inner product, as the AcademicEval paper writes (section 4.2), or by its cosine, as the reference computes it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from lm_eval_tasks.base.bm25 import best, bm25_scores
from lm_eval_tasks.base.errors import EvalError, ModelError
from lm_eval_tasks.base.metadata import INNER_PRODUCT, Similarity
from lm_eval_tasks.llm.weights import MINILM, PRETRAINED, minilm_path, weights_of


@dataclass
class Retriever:
    """Ranks the chunks of samples against their queries.

    Attributes:
        name: distinguishes whatever may rank differently.
        rank: queries, the chunks of each, how many -> for each query the indices of its best chunks, best first; ties in the order of
            the text.
    """

    name: str
    rank: Callable[[Sequence[str], Sequence[Sequence[str]], int], list[list[int]]]


@cache
def open_retriever(name: str, similarity: Similarity = INNER_PRODUCT) -> Retriever:
    """Return the retriever of that name, see `retrieve.Retrieval`; an EvalError if its package or model is missing, or it compares no
    embeddings and a similarity is asked for.
    """
    if name in SPARSE:
        if similarity != INNER_PRODUCT:
            raise EvalError(
                f"the retriever {name!r} compares no embeddings: leave out similarity={similarity!r}, or name a dense retriever"
            )
        return open_sparse(name)
    kind, _, folders = name.partition(":")
    if kind in PAIRS:
        return open_pair(kind, folders, similarity)
    return open_sentence_transformer(name, similarity)


# --- words


def _bm25(query: str, chunks: Sequence[str], top: int) -> list[int]:
    return best(bm25_scores([query], chunks)[0], top)


def _okapi(query: str, chunks: Sequence[str], top: int) -> list[int]:
    """Return BM25 as LangChain's BM25Retriever runs it, which the reference calls: rank_bm25's Okapi over words split by spaces."""
    from rank_bm25 import BM25Okapi

    if not chunks:
        return []
    scores = BM25Okapi([chunk.split() for chunk in chunks]).get_scores(query.split())
    # rank_bm25 reads an ascending order backwards. Its order of ties depends on the machine; here the last comes first.
    return [int(i) for i in np.argsort(scores, kind="stable")[::-1][:top]]


def _tfidf(query: str, chunks: Sequence[str], top: int) -> list[int]:
    """Return cosine of TF-IDF vectors, as scikit-learn computes them, fitted on the sample's chunks."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    if not any(map(vectorizer.build_analyzer(), chunks)):
        return list(range(len(chunks)))[:top]
    return best((vectorizer.fit_transform(chunks) @ vectorizer.transform([query]).T).toarray()[:, 0], top)


SPARSE = {
    "bm25": ("bm25s-lucene-1.5-0.75-en", _bm25),
    "bm25_okapi": ("rank-bm25-okapi", _okapi),
    "tfidf": ("sklearn-tfidf", _tfidf),
}


def open_sparse(kind: str) -> Retriever:
    """Return a retriever of `SPARSE`; an EvalError if its package is missing."""
    if kind == "bm25_okapi" and find_spec("rank_bm25") is None:
        raise EvalError('the retriever bm25_okapi needs rank-bm25: pip install "academiceval[ralm]"')
    name, rank_one = SPARSE[kind]

    def rank(queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        return [rank_one(query, sample_chunks, top) for query, sample_chunks in zip(queries, chunks, strict=True)]

    return Retriever(name, rank)


# --- embeddings

_MAX_TOKENS, _BATCH = 512, 64
Encode = Callable[[Sequence[str]], Any]

# Kind of retriever -> the models for queries and for chunks, and how token states become one vector.
PAIRS = {
    # Karpukhin et al. 2020
    "dpr": ("facebook/dpr-question_encoder-single-nq-base", "facebook/dpr-ctx_encoder-single-nq-base", "dpr"),
    # Izacard et al. 2021
    "contriever": ("facebook/contriever", "facebook/contriever", "mean"),
    # Lin et al. 2023
    "dragon": ("facebook/dragon-plus-query-encoder", "facebook/dragon-plus-context-encoder", "cls"),
}


def by_embeddings(name: str, query: Encode, context: Encode, similarity: Similarity) -> Retriever:
    """Return a retriever that ranks by the similarity of embeddings, of shape (texts, dimensions); its name tells the models from
    others.
    """
    scaled = _unit_vectors if similarity == "cosine" else np.asarray

    def rank(queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        # Samples share demonstrations: no chunk is embedded twice in a call.
        if not any(chunks):
            return [[] for _ in chunks]
        every = dict.fromkeys(chunk for of_sample in chunks for chunk in of_sample)
        numbers = {text: i for i, text in enumerate(every)}
        vectors = scaled(context(list(numbers)))

        def found(of_sample: Sequence[str], query_vector: Any) -> list[int]:
            own = vectors[[numbers[chunk] for chunk in of_sample]]
            return best(own @ query_vector, top) if of_sample else []

        asked = zip(chunks, scaled(query(list(queries))), strict=True)
        return [found(of_sample, query_vector) for of_sample, query_vector in asked]

    return Retriever(name if similarity == INNER_PRODUCT else f"{name}, {similarity}", rank)


def open_pair(kind: str, folders: str, similarity: Similarity) -> Retriever:
    """Return a retriever of two transformers encoders, a kind of `PAIRS`, from the folders "QUERY,CONTEXT", "" for the published ones; an
    EvalError if a model is missing.
    """
    query, context, pooling = PAIRS[kind]
    if folders:
        query, _, context = folders.partition(",")
    context = context or query
    encoders = encoder(query, pooling, "DPRQuestionEncoder"), encoder(context, pooling, "DPRContextEncoder")
    return by_embeddings(f"{kind}:{query}@{_weights(query)},{context}@{_weights(context)}", *encoders, similarity)


def open_sentence_transformer(name: str, similarity: Similarity) -> Retriever:
    """Return a retriever of one sentence-transformers model, by folder or Hub id, "minilm" for the small offline one; an EvalError if the
    package or the model is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as err:
        raise EvalError(
            f'the retriever {name!r} needs sentence-transformers: pip install "academiceval[ralm]"'
        ) from err
    folder = minilm_path("retriever") if name == MINILM else name
    try:
        model = SentenceTransformer(folder)
    except Exception as err:  # the package raises whatever the Hub, the disk or the files' formats raise
        raise EvalError(
            f"the retriever {name!r} cannot be loaded: it is neither one of bm25, bm25_okapi, tfidf, {', '.join(PAIRS)}, minilm "
            "nor a sentence-transformers folder or reachable Hub id"
        ) from err

    def encode(texts: Sequence[str]) -> Any:
        return model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)

    return by_embeddings(f"{name}@{_weights(folder)}", encode, encode, similarity)


def _weights(name: str) -> str:
    """Return what tells a model from another one that had its name: a folder's files, or the commit on the Hub; "" if neither is known."""
    # Names without an organization are sentence-transformers' own.
    with suppress(ModelError):
        return weights_of("hf", {PRETRAINED: name}).get(PRETRAINED, "")
    return ""


def _unit_vectors(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors) / np.where(lengths == 0, 1, lengths)


def encoder(name: str, pooling: str, dpr_class: str = "") -> Encode:
    """Return the embeddings of a transformers model, by folder or Hub id; see `PAIRS`."""
    import torch
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        kind = getattr(transformers, dpr_class if pooling == "dpr" else "AutoModel")
        model = kind.from_pretrained(name).to("cuda" if torch.cuda.is_available() else "cpu").eval()
    except (OSError, ValueError, ImportError) as err:
        raise EvalError(
            f"the retriever's model {name!r} cannot be loaded: `hf download {name}` fetches it while online; or name folders, as in "
            "contriever:FOLDER or dpr:QUERY_FOLDER,CONTEXT_FOLDER"
        ) from err

    def encode(texts: Sequence[str]) -> Any:
        # Longest first, so that the texts of a batch are of like length.
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        vectors: list[Any] = [None] * len(texts)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            for i, vector in zip(batch, _embed(model, tokenizer, [texts[i] for i in batch], pooling), strict=True):
                vectors[i] = vector
        return np.stack(vectors) if vectors else np.zeros((0, 1))

    return encode


def _embed(model: Any, tokenizer: Any, texts: Sequence[str], pooling: str) -> Any:
    """Return the embeddings of shape (texts, dimensions)."""
    import torch

    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=_MAX_TOKENS, return_tensors="pt")
    with torch.inference_mode():
        out = model(**batch.to(model.device))
    if pooling == "dpr":
        return out.pooler_output.float().cpu().numpy()
    states = out.last_hidden_state
    if pooling == "cls":
        return states[:, 0].float().cpu().numpy()
    mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
    return ((states * mask).sum(1) / mask.sum(1)).float().cpu().numpy()
