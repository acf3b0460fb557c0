"""Cut prompts slot by slot, against tokenizing the same uncut texts once in the same batches.

Made-up prompts of 25,000 and 50,000 words with four demonstrations and forty citations, cut to nine tenths, a half and a
tenth of their tokens, with a byte-level BPE tokenizer trained on the spot.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from benchmarks.shared.made_up import text, vocabulary
from benchmarks.shared.running import Figures, best, run
from lm_eval_tasks import prompts
from lm_eval_tasks.data.slots import fit_all

SHARES = (0.9, 0.5, 0.1)
BATCH = 8
TIMES = 5


def measure(_: Path, quick: bool) -> Figures:
    """Return the worst ratio over sizes and shares."""
    rng = random.Random(1)
    words = vocabulary(rng, 5_000)
    tokenizer = make_tokenizer(words, rng)
    ratios = []
    for size in (15_000,) if quick else (25_000, 50_000):
        batch = [prompts.slots("related_long", document(size, words, rng)) for _ in range(BATCH)]
        texts = ["".join(slot.text for slot in slots) for slots in batch]
        tokens = min(map(len, tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]))
        for share in SHARES:
            (seconds, _), (plain, _) = best(
                lambda batch=batch, budget=int(tokens * share): list(fit_all(batch, budget, tokenizer)),  # type: ignore[misc]
                lambda texts=texts: tokenizer(texts, add_special_tokens=False, verbose=False),  # type: ignore[misc]
                times=TIMES,
            )
            ratios.append(seconds / plain)
            print(
                f"{size} words, {tokens} tokens cut to {share} of them: {ratios[-1]:.3f} of {plain:.2f} s", flush=True
            )
    return {"prompt_ratio": round(max(ratios), 3)}


def make_tokenizer(words: Sequence[str], rng: random.Random) -> PreTrainedTokenizerFast:
    """Return a tokenizer trained on made-up texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    lines = (text(rng, words, 30) for _ in range(2_000))
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=8_000, show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def document(size: int, words: Sequence[str], rng: random.Random) -> SimpleNamespace:
    """Return what a prompt of about so many words shows."""
    part = size // 6

    def own(content: int) -> dict[str, str]:
        return {"title": text(rng, words, 10), "abstract": text(rng, words, 180), "content": text(rng, words, content)}

    abstracts = ((text(rng, words, 10), text(rng, words, part // 50)) for _ in range(40))
    citations = [SimpleNamespace(title=title, abstract=abstract) for title, abstract in abstracts]
    demonstrations = [SimpleNamespace(**own(part), output=text(rng, words, 600)) for _ in range(4)]
    return SimpleNamespace(**own(part), citations=citations, demonstrations=demonstrations)


if __name__ == "__main__":
    run(measure)
