"""The authors' text by likelihood: its bits per byte, what compressors need for it, and what of it the prompt shows.

Bits per byte are -log2 of the text's probability after the prompt, divided by its UTF-8 bytes: they do not depend on the tokenizer
(`:bpb` in OLMES, https://github.com/allenai/olmes).
"""

import re
from collections.abc import Callable

from lm_eval_tasks.families.compressors import compressed_bits
from lm_eval_tasks.families.writing.answering import ANSWERING
from lm_eval_tasks.families.writing.writing_row import WritingOwn, WritingRow
from lm_eval_tasks.samples.answers import Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow

# Words in a row that count as copied.
_RUN = 5
_WORD = re.compile(r"\w+")


def bits_per_byte(answers: Answers) -> Values:
    """-log2 of the text's probability after the prompt, divided by its UTF-8 bytes. Models are ranked by it; lower is better."""
    return [answer.likelihoods[0].bits_per_byte for answer in answers.each]


def bits_per_byte_ppmd(answers: Answers) -> Values:
    """Without a model: what PPMd needs for the text, once it has read the prompt."""
    return _compressed(answers, "ppmd")


def bits_per_byte_zstd(answers: Answers) -> Values:
    """Without a model: what Zstandard needs for the text, with the prompt as its dictionary."""
    return _compressed(answers, "zstd")


def bits_per_byte_lzma(answers: Answers) -> Values:
    """Without a model: what LZMA needs for the text, once it has read the prompt."""
    return _compressed(answers, "lzma")


def copied_share(answers: Answers) -> Values:
    """Share of the text's bytes in runs of five words that the prompt contains."""
    sizes = (len(text_of(row).encode()) for row in answers.rows)
    shown = (sum(end - start for start, end in ANSWERING.copied(row)) for row in answers.rows)
    return [part / size for part, size in zip(shown, sizes, strict=True)]


def text_of(row: PromptRow) -> str:
    """Return the text whose likelihood is asked."""
    return ANSWERING.text({"target": row.target})


def own_of(row: WritingRow, prompt: str, words: int) -> WritingOwn:
    """Tell what a row by likelihood needs to be read again without its prompt, see `WritingOwn`."""
    runs = copied(row.target.strip(), prompt)
    return WritingOwn(words=words, copied=tuple(byte for run in runs for byte in run))


def _compressed(answers: Answers, name: str) -> Values:
    texts = [text_of(row) for row in answers.rows]
    sizes = [compressed_bits(name, row.prompt, text) for row, text in zip(answers.rows, texts, strict=True)]
    return [bits / len(text.encode()) for bits, text in zip(sizes, texts, strict=True)]


def copied(text: str, shown: str) -> list[tuple[int, int]]:
    """Find the bytes of a text, from and to, that stand in runs of five words which another text has too; case and punctuation do not
    count.
    """
    words = [match.group().casefold() for match in _WORD.finditer(shown)]
    runs = set(zip(*(words[i:] for i in range(_RUN)), strict=False))
    places = [match.span() for match in _WORD.finditer(text)]
    own = [text[start:end].casefold() for start, end in places]
    found: list[tuple[int, int]] = []
    for i in range(len(own) - _RUN + 1):
        if tuple(own[i : i + _RUN]) in runs:
            start, end = places[i][0], places[i + _RUN - 1][1]
            start = found.pop()[0] if found and found[-1][1] >= start else start
            found.append((start, end))
    size: Callable[[int], int] = lambda character: len(text[:character].encode())  # noqa: E731
    return [(size(start), size(end)) for start, end in found]


# lm-eval evaluates a template that gives a title in brackets.
doc_to_target = ANSWERING.text
