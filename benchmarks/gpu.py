"""What a GPU gains: BERTScore and dense retrieval, with made-up weights of the real shapes.

  python benchmarks/gpu.py [--quick] [--cpu]

BERTScore: pairs a second of a model shaped like deberta-xlarge in bf16, against bert_score's own loop with the same model. Dense
retrieval: chunks of 512 characters a second of a model shaped like Contriever. `--cpu` tries both at toy sizes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    DebertaConfig,
    DebertaModel,
    PreTrainedTokenizerFast,
)

# A test runs this file by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared.made_up import pairs
from benchmarks.shared.running import Figures, best
from lm_eval_tasks.metrics.bertscore import Scorer
from lm_eval_tasks.retrieval.retrievers import open_pair

# A shape that a processor runs.
TOY: dict[str, Any] = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128)
XLARGE: dict[str, Any] = dict(hidden_size=1024, num_hidden_layers=48, num_attention_heads=16, intermediate_size=4096)


@dataclass(frozen=True)
class Size:
    """How much is measured, and with what."""

    pairs: int
    chunks: int
    device: str
    type: torch.dtype

    @property
    def is_toy(self) -> bool:
        return self.device == "cpu"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    if not torch.cuda.is_available() and not arguments.cpu:
        parser.exit(1, "error: there is no GPU here; --cpu tries the benchmark at toy sizes\n")
    size = (
        Size(4, 64, "cpu", torch.float32)
        if arguments.cpu
        else Size(64, 2_000, "cuda", torch.bfloat16)
        if arguments.quick
        else Size(512, 20_000, "cuda", torch.bfloat16)
    )
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures: Figures = {"device": "cpu" if size.is_toy else torch.cuda.get_device_name()}
        figures |= measure_bertscore(place, size) | measure_retrieval(place, size)
        print(json.dumps(figures))


def measure_bertscore(folder: Path, size: Size) -> Figures:
    """Return the pairs a second, and how much faster than the library's own loop that is."""
    from bert_score import BERTScorer

    targets, answers = zip(*pairs(size.pairs, 300, seed=1), strict=True)
    tokenizer = make_tokenizer([*targets, *answers])
    config = DebertaConfig(
        vocab_size=len(tokenizer),
        type_vocab_size=0,
        max_position_embeddings=512,
        relative_attention=True,
        position_biased_input=False,
        pos_att_type=["c2p", "p2c"],
        **(TOY if size.is_toy else XLARGE),
    )
    save(folder / "deberta", DebertaModel(config), tokenizer)
    layers = config.num_hidden_layers
    theirs = BERTScorer(model_type=str(folder / "deberta"), num_layers=layers, device=size.device)
    theirs._tokenizer.model_max_length = 512
    theirs._model.to(size.type)
    ours = Scorer(str(folder / "deberta"), layers)
    ours._model.to(size.device, size.type)

    def fresh() -> None:
        ours.forget()
        ours.score(targets, answers)

    (seconds, _), (plain, _) = best(fresh, lambda: theirs.score(list(answers), list(targets)))
    return {
        "bertscore_pairs_per_second": round(size.pairs / seconds, 1),
        "bertscore_speedup": round(plain / seconds, 2),
    }


def measure_retrieval(folder: Path, size: Size) -> Figures:
    """Return chunks embedded a second."""
    texts = [target for target, _ in pairs(50, 300, seed=2)]
    tokenizer = make_tokenizer(texts)
    config = BertConfig(vocab_size=len(tokenizer), **(TOY if size.is_toy else {}))
    save(folder / "contriever", BertModel(config), tokenizer)
    retriever = open_pair("contriever", str(folder / "contriever"), "inner_product")
    rng, text = random.Random(0), " ".join(texts)
    starts = [rng.randrange(len(text) - 512) for _ in range(size.chunks)]
    chunks = [text[start : start + 512] for start in starts]
    [(seconds, _)] = best(lambda: retriever.rank(["which one"], [chunks], 12))
    return {"retrieval_chunks_per_second": round(size.chunks / seconds, 1)}


def make_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer trained on texts, with a first and a last token as encoders have them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    special = ["[PAD]", "[CLS]", "[SEP]"]
    trainer = trainers.BpeTrainer(vocab_size=8_000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", model_max_length=512
    )


def save(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> None:
    """Write a model as the libraries read it."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
