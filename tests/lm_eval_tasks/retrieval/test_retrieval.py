"""Retrieval of chunks: every kind of retriever, offline, with the small model and with random weights."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import rank_bm25

from lm_eval_tasks.base.errors import EvalError, OptionError
from lm_eval_tasks.base.metadata import check_keys
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.hook import corpus
from lm_eval_tasks.retrieval import retrievers
from lm_eval_tasks.retrieval.retrieve import Chunking, Query, Retrieval, check, default_retriever, retrieve
from tests.helpers.typed_rows import writing_row

FILLER = "The weather was mild and the harbour lay quiet in the evening light. " * 12
NEEDLE = "Kangaroos carry their young joeys in a pouch while they hop across the grassland."
QUESTION = Query("How do kangaroos carry a joey?", (FILLER, f"{FILLER}\n\n{NEEDLE}\n\n{FILLER}", FILLER + " end"))


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of tiny random encoders of each architecture."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast, DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    from lm_eval_tasks.llm.weights import minilm_path

    place = tmp_path_factory.mktemp("encoders")
    tokenizer = BertTokenizerFast.from_pretrained(minilm_path("test"))
    size: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    torch.manual_seed(0)
    models = {
        "question": DPRQuestionEncoder(DPRConfig(**size)),
        "context": DPRContextEncoder(DPRConfig(**size)),
        "bert": BertModel(BertConfig(**size)),
    }
    for name, model in models.items():
        model.save_pretrained(place / name)
        tokenizer.save_pretrained(place / name)
    return {name: str(place / name) for name in models}


@pytest.mark.parametrize("name", ["bm25", "bm25_okapi", "tfidf", "minilm"])
@pytest.mark.slow
def test_what_answers_the_query_comes_first(name: str, tmp_path: Path) -> None:
    [found] = retrieve([QUESTION], Retrieval(name), tmp_path)
    assert "Kangaroos" in found[0]
    assert len(found) <= 12
    assert all(len(chunk) <= 512 for chunk in found)


def test_sizes_and_numbers_are_options(tmp_path: Path) -> None:
    [found] = retrieve([QUESTION], Retrieval("bm25", chunking=Chunking(size=100, overlap=20, top=3)), tmp_path)
    assert len(found) == 3
    assert all(len(chunk) <= 100 for chunk in found)


@pytest.mark.slow
def test_mean_and_first_token_are_those_of_the_model(encoders: dict[str, str], tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["a short one", "another that is rather longer than the first", "third"]
    tokenizer, model = AutoTokenizer.from_pretrained(encoders["bert"]), AutoModel.from_pretrained(encoders["bert"])
    with torch.no_grad():
        states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in texts]
    for kind, expected in (("contriever", [s.mean(0) for s in states]), ("dragon", [s[0] for s in states])):
        encode = retrievers.encoder(encoders["bert"], retrievers.PAIRS[kind][2])
        np.testing.assert_allclose(encode(texts), torch.stack(expected).numpy(), atol=1e-5)
        assert len(retrieve([QUESTION], Retrieval(f"{kind}:{encoders['bert']}"), tmp_path)[0]) > 3


def test_inner_products_are_those_of_the_models(encoders: dict[str, str]) -> None:
    import torch
    from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder

    query, chunks = "which one", ["a short one", "another that is rather longer than the first", "third"]
    tokenizer = AutoTokenizer.from_pretrained(encoders["question"])
    with torch.no_grad():
        asks = DPRQuestionEncoder.from_pretrained(encoders["question"])(**tokenizer(query, return_tensors="pt"))
        shows = [
            DPRContextEncoder.from_pretrained(encoders["context"])(**tokenizer(c, return_tensors="pt")) for c in chunks
        ]
    scores = [float((asks.pooler_output @ one.pooler_output.T)[0, 0]) for one in shows]
    expected = sorted(range(3), key=lambda i: -scores[i])
    retriever = retrievers.open_retriever(f"dpr:{encoders['question']},{encoders['context']}")
    assert retriever.rank([query], [chunks], 3) == [expected]


def test_cosine_takes_no_account_of_length(encoders: dict[str, str], tmp_path: Path) -> None:
    vectors = {"q": [1.0, 0.0], "long": [3.0, 3.0], "near": [1.0, 0.1], "none": [0.0, 0.0]}

    def encode(texts: Any) -> Any:
        return np.array([vectors[text] for text in texts])

    chunks = [["none", "near", "long"]]
    assert retrievers.by_embeddings("d", encode, encode, "inner_product").rank(["q"], chunks, 3) == [[2, 1, 0]]
    assert retrievers.by_embeddings("d", encode, encode, "cosine").rank(["q"], chunks, 3) == [[1, 2, 0]]
    weights = shutil.copytree(encoders["bert"], tmp_path / "bert") / "model.safetensors"
    how = Retrieval(f"contriever:{weights.parent}", "cosine")
    assert how.label.endswith(" cosine")
    retrieve([QUESTION], how, tmp_path / "found")
    weights.write_bytes(weights.read_bytes()[:-4] + bytes(4))
    retrievers.open_retriever.cache_clear()
    for one in (how, Retrieval(how.retriever)):
        retrieve([QUESTION], one, tmp_path / "found")
    assert len(list((tmp_path / "found").iterdir())) == 3
    with pytest.raises(EvalError, match="'bm25' compares no embeddings"):
        check(Retrieval("bm25", "cosine"))


@pytest.mark.parametrize("texts", [QUESTION.texts, ("a b c d " * 40, "b c", "c")])
def test_okapi_ranks_as_rank_bm25(texts: tuple[str, ...]) -> None:
    """As LangChain's BM25Retriever has it: words split by spaces, the class's own parameters."""
    chunks = [words for text in texts for words in (text[i : i + 60] for i in range(0, len(text), 60)) if words.strip()]
    for query in (QUESTION.query, "c", "quiet harbour lay", ""):
        index = rank_bm25.BM25Okapi([chunk.split() for chunk in chunks])
        scores = index.get_scores(query.split())
        [found] = retrievers.open_retriever("bm25_okapi").rank([query], [chunks], 12)
        theirs = index.get_top_n(query.split(), range(len(chunks)), 12)
        assert [scores[i] for i in found] == [scores[i] for i in theirs]
        assert len(found) == len(set(found)) == min(12, len(chunks))


def test_the_papers_retriever_is_the_default_where_its_weights_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    default_retriever.cache_clear()
    assert Retrieval().label == "bm25"
    assert "bm25 is used because the weights of the paper's retriever (facebook/contriever) are not on" in caplog.text
    assert Retrieval("tfidf").label == "tfidf"
    place = tmp_path / "models--facebook--contriever"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("0" * 40)
    (place / "snapshots" / ("0" * 40)).mkdir(parents=True)
    (place / "snapshots" / ("0" * 40) / "pytorch_model.bin").touch()
    default_retriever.cache_clear()
    caplog.clear()
    assert Retrieval().label == "contriever"
    assert not caplog.text
    default_retriever.cache_clear()


def test_what_was_found_is_kept_even_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [Query(f"kangaroos {i}", QUESTION.texts) for i in range(40)]
    retriever = Retrieval("bm25").open()
    asked: list[str] = []
    rank = retriever.rank

    def counted(queries: Any, chunks: Any, top: int) -> list[list[int]]:
        if len(asked) >= 16:
            raise KeyboardInterrupt
        asked.extend(queries)
        return rank(queries, chunks, top)

    monkeypatch.setattr(retriever, "rank", counted)
    with pytest.raises(KeyboardInterrupt):
        retrieve(questions, Retrieval("bm25"), tmp_path)
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes() + b'{"key": "torn')
    monkeypatch.setattr(retriever, "rank", lambda q, c, top: [asked.extend(q), rank(q, c, top)][1])
    found = retrieve(questions, Retrieval("bm25"), tmp_path)
    assert len(asked) == len(set(asked)) == 40
    assert retrieve(questions, Retrieval("bm25"), tmp_path) == found
    assert retrieve(questions, Retrieval("bm25"), tmp_path / "other") == found
    assert len(asked) == 80
    # Nor is it what is found in other chunks, such as another release of the splitter makes.
    monkeypatch.setattr("langchain_text_splitters.RecursiveCharacterTextSplitter.split_text", lambda _, text: [text])
    assert retrieve(questions, Retrieval("bm25"), tmp_path)[0][0] in QUESTION.texts


@pytest.mark.slow
def test_what_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(
        EvalError, match="'nobody/nothing' cannot be loaded: it is neither one of bm25, bm25_okapi, tfidf, dpr"
    ):
        check(Retrieval("nobody/nothing"))
    with pytest.raises(EvalError, match="facebook/dragon-plus-query-encoder' cannot be loaded"):
        check(Retrieval("dragon"))
    with pytest.raises(EvalError, match="make no sense"):
        Chunking(size=64, overlap=64)
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    retrievers.open_retriever.cache_clear()
    with pytest.raises(EvalError, match=r"academiceval\[ralm\]"):
        check(Retrieval("bm25_okapi"))
    retrievers.open_retriever.cache_clear()


@pytest.mark.slow
def test_prompts_show_chunks_of_everything_but_the_target(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path))
    arguments = {"dataset": str(dataset), "bertscore_model": "none", "chunk_size": "256", "chunks": 5}
    rows = hook.load("Related-53K-G", 2048, shown="retrieved", **arguments)["test"]
    parts = hook.load("Related-53K-G", 2048, keep_parts=True, **arguments)["test"]
    for row, whole in zip(rows, parts, strict=True):
        chunks = [line for line in row["prompt"].split("\n") if line.startswith("### Target Content ")]
        assert [line.split(":")[0] for line in chunks[:5]] == [f"### Target Content {i}" for i in range(5)]
        assert "### Target Content 5:" not in row["prompt"]
        assert row["prompt"].startswith("Please read the following Target Content and Target Citations carefully")
        assert f"### Target Content Title: {row['title']}\n" in row["prompt"]
        assert row["target"][:200] not in row["prompt"]
        assert (row["retriever"], row["prompt_name"]) == ("bm25", "related_ralm")
        demonstrated = whole["own"]["demonstrations"]
        texts = corpus(
            writing_row(
                content=whole["own"]["content"],
                target=whole["target"],
                citations=[{"title": "Cited", "abstract": "This."}],
                demonstrations=[{"output": output} for output in demonstrated],
            )
        )
        assert {whole["own"]["content"], "Cited\nThis.", *demonstrated} <= set(texts)
        assert whole["target"] not in texts
    assert (tmp_path / "retrieval").is_dir()


def test_options_that_make_no_sense_are_named(dataset: Path) -> None:
    for more, told in (
        ({"chunks": "many"}, "chunks='many' is not a whole number"),
        ({"cut": "front"}, "there are 'end', 'middle'"),
        ({"similarity": "near"}, "there are 'inner_product', 'cosine'"),
        ({"published_after": "yesterday"}, "is not a day"),
        ({"model_cutoff": "2025-061"}, "is not a month"),
    ):
        with pytest.raises(OptionError, match=told):
            hook.load("Abs-9K", 512, shown="retrieved", dataset=str(dataset), bertscore_model="none", **more)


def test_keys_that_no_task_reads_are_named() -> None:
    check_keys(["retriever", "published_after", "tokenizer"], others=False)
    with pytest.raises(OptionError, match=r"has a key 'retriver' that no task reads; did you mean 'retriever'\?"):
        check_keys(["retriver"], others=True)
    check_keys(["max_seq_lengths_of_others"], others=True)
    with pytest.raises(OptionError, match=r"'nonsense' that no task reads; there are 'api_key'"):
        check_keys(["nonsense"], others=False)
