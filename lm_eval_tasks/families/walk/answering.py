"""Walk's questions, and how its answers are read and scored: sets against sets."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from statistics import fmean

from lm_eval_tasks.base.contract import NONE, Context
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.families.answering import Placed
from lm_eval_tasks.families.labels import set_of
from lm_eval_tasks.families.reading import BLIND
from lm_eval_tasks.families.reading.answering import (
    Parts,
    ReadingAnswering,
    own_of,
    place_of,
    strict_set_of,
    write_list,
)
from lm_eval_tasks.families.reading.reading_row import ReadingOwn, ReadingRow
from lm_eval_tasks.families.walk import FAMILY, PLACES, RULES
from lm_eval_tasks.families.walk.programs import papers_by_place, papers_that, paragraphs_of
from lm_eval_tasks.prompts import filled, named_lines
from lm_eval_tasks.samples.answers import Answer, Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow


def f1_of(answer: Collection[int], right: Collection[int]) -> float:
    """Return f1 of two sets; that of two empty ones is 1."""
    both = len(set(answer)) + len(set(right))
    return 2 * len(set(answer) & set(right)) / both if both else 1.0


def _of_sets(
    answers: Answers,
    measure: Callable[[tuple[int, ...], tuple[int, ...]], float],
    read: Callable[[str], tuple[int, ...] | None] = set_of,
) -> Values:
    """Return a measure of each answer's set against the right one; 0 for an answer that cannot be read."""

    def score(answer: Answer) -> float:
        named = read(answer.reply)
        return 0.0 if named is None else measure(named, own_of(answer.row).answer)

    return [score(answer) for answer in answers.each]


def _equal(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    return float(set(first) == set(second))


def exact(answers: Answers) -> Values:
    """Share of answers that name exactly the right papers."""
    return _of_sets(answers, _equal)


def exact_strict(answers: Answers) -> Values:
    """Only JSON at the very end of an answer counts."""
    return _of_sets(answers, _equal, strict_set_of)


def set_f1(answers: Answers) -> Values:
    """F1 of the papers named."""
    return _of_sets(answers, f1_of)


def exact_blind(answers: Answers) -> Values:
    """Floor: the empty set, the only constant that is ever right."""
    return [float(not own_of(row).answer) for row in answers.rows]


def set_f1_blind(answers: Answers) -> Values:
    """Floor: the better constant, no paper or all of them."""
    return [f1_of(_constant(own_of(row)), own_of(row).answer) for row in answers.rows]


def _constant(own: ReadingOwn) -> range:
    return range(1, own.paper_count + 1) if own.best_constant else range(0)


def exact_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [_equal(own_of(row).shortcut, own_of(row).answer) for row in answers.rows]


def exact_places(answers: Answers) -> Values:
    """Without headings: guesses from how far into the papers works are cited."""
    return _of_places(answers, _equal)


def set_f1_places(answers: Answers) -> Values:
    """Without headings: guesses from how far into the papers works are cited."""
    return _of_places(answers, f1_of)


def _of_places(answers: Answers, measure: Callable[[tuple[int, ...], tuple[int, ...]], float]) -> Values:
    known = [(own_of(row).by_place, own_of(row).answer) for row in answers.rows]
    return [None if named is None else measure(named, answer) for named, answer in known]


def set_f1_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [f1_of(own_of(row).shortcut, own_of(row).answer) for row in answers.rows]


_REFERENCES = "## References\n"
# Paragraphs of a paper that a search finds for a title.
_PARAGRAPHS = 3


# Programs that look at the prompt.
_READERS = {PLACES: papers_by_place, RULES: papers_that}


class WalkAnswering(ReadingAnswering):
    """Questions that a set of papers answers."""

    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """Return the reference lists alone; or what names the works that are asked about."""
        labelled = parts[: row.labels]
        return [*map(_reference_list, labelled)] if context == NONE else _naming(row, labelled)

    def check(self, row: ReadingRow) -> None:
        if row.kind not in named_lines("walk_questions") or not row.works:
            raise ValueError(f"{row.id:.80} asks {row.kind!r:.40} about {len(row.works)} works")

    def fields(self, row: ReadingRow) -> dict[str, str]:
        titles = [work.title for work in row.works]
        return {"QUESTION": filled(named_lines("walk_questions")[row.kind], {"FIRST": titles[0], "SECOND": titles[-1]})}

    def target(self, row: ReadingRow) -> str:
        return write_list(row.answer, self.family.word)

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return the papers that an answer names."""
        labels = set_of(reply)
        return "" if labels is None else write_list(labels, self.family.word)

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Yield each third of the context in which papers answer the question or are named: the F1 of those that are named in it."""
        own, named = own_of(row), set_of(answer) or ()
        for third in range(3):
            named_here, right = _in_third(named, third, own), _in_third(own.answer, third, own)
            if right or named_here:
                yield str(third), (third + 0.5) / 3, f1_of(named_here, right)

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """Return no paper at all; those in whose text a search finds the titles; or what `places` or `rules` finds."""
        own = own_of(row)
        if name in _READERS:
            return write_list(_READERS[name](own.kind, prompt), self.family.word)
        return write_list(() if name == BLIND else own.shortcut, self.family.word)

    def shortcut_score(self, row: ReadingRow) -> float:
        return float(set(row.shortcut) == set(row.answer))

    def blind_score(self, row: ReadingRow) -> float:
        """Return of no paper, the only constant that is ever right."""
        return float(not row.answer)

    def by_place(self, row: ReadingRow, prompt: Callable[[], tuple[str, str]]) -> tuple[int, ...]:
        return tuple(papers_by_place(row.kind, "".join(prompt())))

    def best_constant(self, rows: Iterable[ReadingRow]) -> int:
        """Return 1 if all papers are a better answer to all questions than none, by set F1; else 0."""
        scores = [(f1_of(range(1, len(row.papers) + 1), row.answer), f1_of((), row.answer)) for row in rows]
        return int(fmean(every for every, _ in scores) > fmean(none for _, none in scores))


def _in_third(labels: Iterable[int], third: int, own: ReadingOwn) -> list[int]:
    return [label for label in labels if label > 0 and int(3 * place_of(label, own)) == third]


def _reference_list(text: str) -> str:
    _, heading, entries = f"{text}\n".rpartition(_REFERENCES)
    return f"{heading}{entries}".strip() if heading else _REFERENCES.strip()


def _naming(row: ReadingRow, parts: Sequence[str]) -> Parts:
    """Return of each paper the entries of its reference list that have a title which is asked about, and under their headings the
    paragraphs that a search for the title finds.
    """
    from lm_eval_tasks.base.bm25 import best, bm25_scores

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
