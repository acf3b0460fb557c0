"""SCALAR: a citation is masked, four papers are shown; which of them was meant? (SCALAR paper, section 2.2 and figure 3)

The hook for lm-eval, the prompt, and the scores. A row's `question` is what stands in <Paper>, a candidate's `content` what
stands behind its title, markup included, so that the published prompts come out byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import datasets

from lm_eval_tasks import commandline, context, cutoff, loading, prompts, refine
from lm_eval_tasks.bertscore import NO_MODEL
from lm_eval_tasks.metrics import cutting
from lm_eval_tasks.options import Options
from lm_eval_tasks.prompts import Slot, registry
from lm_eval_tasks.rows import open_dataset, rows_of_test
from lm_eval_tasks.slots import AFTER, BEFORE

MASK = "**[MASKED_CITATION]**"
# What a candidate shows: its body alone has no title.
BODY = "body"
_LOGGED = ("id", "paper_id", "title", "level", "section", "citation_type", "published", "license", "round", "label")
_ABSTRACT = re.compile(r"(?<=<Abstract>Abstract: ).*?(?=</Abstract>)", re.DOTALL)
_CONTENT = re.compile(r"(?<=<Content>\n).*(?=\n</Content>)", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_INDEX = re.compile(r"\d+")
_PROBE = "probe"


def load(setting: str, answer_tokens: int, role: str = "prompt", **arguments: Any) -> dict[str, datasets.Dataset]:
    """Load a SCALAR setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    Args:
        role: "probe" shows the mask without the paper around it: what can be guessed from the candidates alone.

    The other arguments and errors are those of `loading.load`.
    """
    with commandline.told():
        return _load(setting, answer_tokens, role, arguments)


def _load(setting: str, answer_tokens: int, role: str, arguments: Mapping[str, Any]) -> dict[str, datasets.Dataset]:
    options = Options.of(arguments)
    config = options.config or setting
    model = context.of_model(arguments, options.system_instruction)
    rows = rows_of_test(open_dataset(config, options), config, options)
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), rows["published"])
    all_slots = [slots_of(row, with_paper=role != _PROBE) for row in rows]
    fitted = loading.fit(all_slots, model, options.reserve or answer_tokens, options, config)
    same = {
        "setting": config, "prompt_name": _PROBE if role == _PROBE else registry.SCALAR, "prompt_version": registry.version(),
        "cut": options.cut, "bertscore_model": NO_MODEL, "retriever": "",
    }  # fmt: skip
    return {
        "test": datasets.Dataset.from_list(
            [
                {**{key: row[key] for key in _LOGGED}, **_derived(row), **loading.prompt_columns(one), **same}
                for row, one in zip(rows, fitted, strict=True)
            ]
        )
    }


def _derived(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "first_author": row["authors"][0] if row["authors"] else row["paper_id"], "month": row["published"][:7],
        "target": str(row["label"]), "candidate_ids": [one["id"] for one in row["candidates"]],
        "licenses": loading.licenses(row, row["candidates"]),
    }  # fmt: skip


def slots_of(row: Mapping[str, Any], with_paper: bool = True) -> list[Slot]:
    """The prompt of a row, as slots whose texts in a row are the prompt."""
    head, middle, tail = re.split(r"\{PAPER\}|\{CANDIDATES\}", prompts.words(registry.SCALAR))
    before, _, after = row["question"].partition(MASK)
    title, line, before = before.partition("\n")
    paper = [
        Slot(title + line), Slot(before, "around", 0, BEFORE), Slot(MASK), Slot(after, "around", 0, AFTER)
    ]  # fmt: skip
    shown = [slot for i, one in enumerate(row["candidates"]) for slot in _candidate(one, i, row["candidate_text"])]
    return [Slot(head), *(paper if with_paper else [Slot(MASK)]), Slot(middle), *shown, Slot(tail)]


def _candidate(candidate: Mapping[str, Any], index: int, shown: str) -> Iterator[Slot]:
    head, tail = prompts.words("scalar_candidate").replace("{INDEX}", str(index)).split("{CANDIDATE}")
    yield Slot(head + ("\n" if shown == BODY else f"{candidate['title']}\n\n"), index=index)
    text = candidate["content"]
    content = _CONTENT.search(text)
    abstract = _ABSTRACT.search(text, 0, content.start() if content else len(text))
    position = 0
    parts: tuple[tuple[Any, prompts.Part], ...] = ((abstract, "candidate_abstract"), (content, "candidate"))
    for match, part in parts:
        if match is not None:
            yield Slot(text[position : match.start()], index=index)
            yield Slot(match.group(), part, index, "abstract" if part == "candidate_abstract" else "content")
            position = match.end()
    yield Slot(text[position:] + tail, index=index)


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>; None where there is none or it names no candidate."""
    found = _ANSWER.findall(text)
    index = _INDEX.search(found[-1]) if found else None
    return int(index[0]) if index and int(index[0]) < candidates else None


def score(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[dict[str, float | str]]:
    """Score all answers of a task; lm-eval's `filter_fn`. No answer is a wrong answer, and counted."""
    return [_score(resp[0] or "", doc) for resp, doc in zip(resps, docs, strict=True)]


def _score(text: str, doc: Mapping[str, Any]) -> dict[str, float | str]:
    stripped, unfinished = refine.strip_reasoning(text)
    candidates = len(doc["candidate_ids"])
    chosen = answer_of(stripped, candidates)
    return {
        "accuracy": float(chosen == doc["label"]),
        "accuracy_random": 1 / candidates,
        "no_answer": float(chosen is None),
        "unfinished": float(unfinished),
        **cutting(doc),
        "answer": "" if chosen is None else str(chosen),
    }
