"""Scoring by likelihood: what it costs beside transformers alone, and what bits per byte say of four small models over 36 real papers.

What the models say of the abstracts with nothing, with the beginning of another paper, and with 1,500 words of their own lies in
`docs/results/pdf`; `benchmarks/models.py` asks the models themselves. `--quick` measures costs and intervals alone.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

from benchmarks.figures import means
from benchmarks.shared.running import ROOT, Figures, bounded, run
from lm_eval_tasks.base.intervals import holm
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.compat.likelihoods import score
from lm_eval_tasks.compat.scored_texts import Question, encoded_text
from lm_eval_tasks.stats.compare import compare, runs_of
from lm_eval_tasks.stats.opened import read_runs
from lm_eval_tasks.stats.savings import HEADLINE, savings_of
from standins.real_model import FOLDER, UNPACKED

# From small to large; of the third, answers with a chat template too.
MODELS = ("SmolLM2-135M-Instruct", "Gemma-3-270M", "Qwen2.5-Coder-0.5B-Instruct", "Qwen2.5-Coder-1.5B-Instruct")
CHATTING = MODELS[2]
ASKED = ROOT / "docs" / "results" / "pdf"
# Some processors emulate bfloat16, which takes five times as long.
DTYPE = "float32"


def measure(_folder: Path, quick: bool) -> Figures:
    """Return what our path costs, and what the runs say."""
    small = FOLDER / UNPACKED
    figures = {**costs(small, (256, 64, 2) if quick else (2_000, 300, 5)), **means(150 if quick else 4_000, quick)}
    return figures if quick else {**figures, **said_by()}


# --- what it costs


def costs(model: Path, sizes: tuple[int, int, int]) -> Figures:
    """Return the processor time of transformers alone over ours for the same tokens, the median pair of several; and by how many bits per
    byte bfloat16 and the bare harness differ from ours in float32.
    """
    prompt, target, pairs = sizes
    torch.set_num_threads(1)
    lm, narrow = (HFLM(str(model), dtype=name, device="cpu") for name in (DTYPE, "bfloat16"))
    question = Question(text_of(lm, prompt), (text_of(lm, target, skip=prompt),))
    ratios = []
    for _ in range(pairs):
        started = time.process_time()
        score(lm, [question])[0]
        between = time.process_time()
        alone(lm, question)
        ratios.append((time.process_time() - between) / (between - started))
    both = [score(each, [question])[0].likelihoods[0].bits_per_byte or 0.0 for each in (lm, narrow)]
    text = question.texts[0]
    request = Instance("loglikelihood", {}, (f"{question.prompt}\n\n", text), 0)
    bare = Likelihood.of_logged(lm.loglikelihood([request], disable_tqdm=True)[0], text).bits_per_byte or 0.0
    apart = Question(f"{question.prompt}\n\n", (text,))
    ours = score(lm, [apart])[0].likelihoods[0].bits_per_byte or 0.0
    return {
        "throughput_ratio": round(sorted(ratios)[len(ratios) // 2], 3),
        "float32_difference": round(abs(both[0] - both[1]), 5),
        "bare_harness_difference": round(bare - ours, 5),
    }


def text_of(lm: Any, tokens: int, skip: int = 0) -> str:
    """Return a text of about so many tokens."""
    words = (
        f"In step {i} the measured value of sample {i * 7919 % 1009} rises slightly."
        for i in range(skip, skip + tokens)
    )
    text = " ".join(words)
    return str(lm.tokenizer.decode(lm.tokenizer(text, add_special_tokens=False)["input_ids"][:tokens])).strip()


def alone(lm: Any, question: Question) -> None:
    """Compute the same by transformers, in one pass that keeps no more logits than the text has tokens."""
    prompt = lm.tok_encode(question.prompt)
    ids, _ = encoded_text(lm.tokenizer, question.texts[0])
    with torch.inference_mode():
        tokens = torch.tensor([[*prompt, *ids]])
        logits = lm.model(input_ids=tokens, logits_to_keep=len(ids) + 1).logits[0, :-1]
        torch.log_softmax(logits.float(), dim=1).gather(1, torch.tensor(ids)[:, None])


# --- what models say of real papers


def said_by() -> Figures:
    """Return the savings of each model whose run is there, with their bounds; and of all models, how many pairs each figure tells apart
    after Holm's correction.
    """
    runs = {name: ASKED / name / "abs_9k_bpb" for name in MODELS}
    runs[f"{CHATTING}-chat"] = ASKED / CHATTING / "abs_9k_bpb_chat"
    figures: Figures = {}
    for name, run_ in runs.items():
        for saving in savings_of(read_runs([run_])) if run_.is_dir() else ():
            if (saving.less, saving.more) in HEADLINE:
                key = f"over_{saving.less}_{name}"
                figures |= bounded(f"saved_{key}", saving.saved)
                figures[f"copied_{key}"] = saving.copied and round(saving.copied, 4)
    bare = [runs[name] for name in MODELS]
    rows = compare(runs_of(bare)) if all(each.is_dir() for each in bare) else []
    for label, wanted in (("bits", "Abs-9K bpb start"), ("savings", "Abs-9K bpb: start over other")):
        known = [row.difference.p for row in rows if row.task == wanted and row.difference.p is not None]
        figures[f"pairs_apart_by_{label}"] = sum(p < 0.05 for p in holm(known)) if rows else None
    return figures


if __name__ == "__main__":
    run(measure, FOLDER)
