"""Walk's questions, and how its answers are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.base.row_format import NONE, Context
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.families.labels import set_of
from lm_eval_tasks.families.reading import BLIND
from lm_eval_tasks.families.reading.answering import Parts, ReadingAnswering, place_of
from lm_eval_tasks.families.reading.metrics import write_list
from lm_eval_tasks.families.walk import FAMILY, RULES
from lm_eval_tasks.families.walk.metrics import f1_of
from lm_eval_tasks.families.walk.rules import papers_that, paragraphs_of
from lm_eval_tasks.prompts import filled, named_lines

if TYPE_CHECKING:
    from lm_eval_tasks.families.answering import Placed
    from lm_eval_tasks.families.reading.row import ReadingRow
    from lm_eval_tasks.samples.row import PromptRow

_REFERENCES = "## References\n"
# Paragraphs of a paper that a search finds for a title.
_PARAGRAPHS = 3


class WalkAnswering(ReadingAnswering):
    """Questions that a set of papers answers."""

    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """The reference lists alone; or what names the works that are asked about."""
        labelled = parts[: row.labels]
        return [*map(_reference_list, labelled)] if context == NONE else _naming(row, labelled)

    def check(self, row: ReadingRow) -> None:
        if row.kind not in named_lines("walk_questions") or not row.works:
            raise ValueError(f"{row.id:.80} asks {row.kind!r:.40} about {len(row.works)} works")

    def fields(self, row: ReadingRow) -> dict[str, str]:
        titles = [work.title for work in row.works]
        question = named_lines("walk_questions")[row.kind]
        return {"QUESTION": filled(question, {"FIRST": titles[0], "SECOND": titles[-1]})}

    def target(self, row: ReadingRow) -> str:
        return write_list(row.answer, self.family.word)

    def refine(self, reply: str, row: PromptRow) -> str:
        """The papers that an answer names."""
        labels = set_of(reply)
        return "" if labels is None else write_list(labels, self.family.word)

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Each third of the context in which papers answer the question or are named: the F1 of those that are named in it."""
        named = set_of(answer) or ()
        for third in range(3):
            named_here, right = (
                [label for label in labels if label > 0 and int(3 * place_of(label, row)) == third]
                for labels in (named, row.answer or ())
            )
            if right or named_here:
                yield str(third), (third + 0.5) / 3, f1_of(named_here, right)

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """No paper at all; those in whose text a search finds the titles; or what `rules` finds."""
        if name == RULES:
            labels: Sequence[int] = papers_that(row.question_kind or "", prompt)
        else:
            labels = () if name == BLIND else row.shortcut or ()
        return write_list(labels, self.family.word)

    def shortcut_score(self, row: ReadingRow) -> float:
        return float(set(row.shortcut) == set(row.answer))

    def blind_score(self, row: ReadingRow) -> float:
        """Of no paper, the only constant that is ever right."""
        return float(not row.answer)

    def best_constant(self, rows: Iterable[ReadingRow]) -> int:
        """1 if all papers are a better answer to all questions than none, by set F1; else 0."""
        scores = [(f1_of(range(1, len(row.papers) + 1), row.answer), f1_of((), row.answer)) for row in rows]
        return int(fmean(every for every, _ in scores) > fmean(none for _, none in scores))


def _reference_list(text: str) -> str:
    _, heading, entries = f"{text}\n".rpartition(_REFERENCES)
    return f"{heading}{entries}".strip() if heading else _REFERENCES.strip()


def _naming(row: ReadingRow, parts: Sequence[str]) -> Parts:
    """Of each paper the entries of its reference list that have a title which is asked about, and under their headings the
    paragraphs that a search for the title finds.
    """
    from lm_eval_tasks.retrieval.sparse import best, bm25_scores

    keys = [title_key(work.title) for work in row.works]
    query = " ".join(work.title for work in row.works)
    shown: Parts = []
    for text in parts:
        body, heading, entries = f"{text}\n".rpartition(_REFERENCES)
        body, entries = (body, entries) if heading else (text, "")
        # By their places, which marks with numbers may refer to.
        naming_entries = [
            f"Entry {i}: {entry}"
            for i, entry in enumerate(entries.splitlines(), 1)
            if any(key in title_key(entry) for key in keys)
        ]
        paragraphs = [pair for pair in paragraphs_of(body) if not pair[1].startswith("# ")]
        # Entries bring the names of authors, which citations by name show.
        search = "\n".join([query, *naming_entries])
        found = best(bm25_scores([search], [text for _, text in paragraphs])[0], _PARAGRAPHS)
        excerpt = [f"{heading}\n{paragraph}" for heading, paragraph in (paragraphs[i] for i in sorted(found))]
        shown.append("\n\n".join([*excerpt, _REFERENCES + "\n".join(naming_entries)]))
    return shown


ANSWERING = WalkAnswering(FAMILY)
