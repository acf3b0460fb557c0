"""Cut prompts slot by slot, against tokenizing the same uncut texts once in the same batches.

  python benchmarks/prompts.py [--quick]

Made-up prompts of 25,000 and 50,000 words with four demonstrations and forty citations, cut to nine tenths, a half and a
tenth of their tokens, with a byte-level BPE tokenizer trained on the spot. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from lm_eval_tasks.data.slots import fit_all
from lm_eval_tasks.prompts import templates

SHARES = (0.9, 0.5, 0.1)
ROUNDS = 5


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="prompts of 15,000 words only")
    arguments = parser.parse_args()
    print(json.dumps(measure((15_000,) if arguments.quick else (25_000, 50_000))))


def measure(sizes: tuple[int, ...]) -> dict[str, float]:
    """Time both; the figures."""
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 9))) for _ in range(5_000)]
    tokenizer = _tokenizer(vocabulary, rng)
    worst = 0.0
    for size in sizes:
        batch = [templates.load("related_long").slots(_document(size, vocabulary, rng)) for _ in range(8)]
        texts = ["".join(slot.text for slot in slots) for slots in batch]
        plain = _best(lambda texts=texts: tokenizer(texts, add_special_tokens=False, verbose=False))  # type: ignore[misc]
        tokens = min(len(ids) for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"])
        for share in SHARES:
            budget = int(tokens * share)
            seconds = _best(lambda batch=batch, budget=budget: list(fit_all(batch, budget, tokenizer)))  # type: ignore[misc]
            print(f"{size} words, {tokens} tokens cut to {budget}: {seconds / plain:.3f} of {plain:.2f} s")
            worst = max(worst, seconds / plain)
    return {"prompt_ratio": round(worst, 3), "tokens": tokens}


def _best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def _tokenizer(vocabulary: list[str], rng: random.Random) -> PreTrainedTokenizerFast:
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    lines = (_words(30, vocabulary, rng) for _ in range(2_000))
    raw.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=8_000, show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=raw)


def _words(n: int, vocabulary: list[str], rng: random.Random) -> str:
    return " ".join(rng.choices(vocabulary, k=n))


def _document(words: int, vocabulary: list[str], rng: random.Random) -> dict[str, object]:
    part = words // 6

    def text(n: int) -> str:
        return _words(n, vocabulary, rng)

    return {
        "title": text(10),
        "abstract": text(180),
        "content": text(part),
        "citations": [{"title": text(10), "abstract": text(part // 50)} for _ in range(40)],
        "demonstrations": [
            {"title": text(10), "abstract": text(180), "content": text(part), "output": text(600)} for _ in range(4)
        ],
    }


if __name__ == "__main__":
    main()
