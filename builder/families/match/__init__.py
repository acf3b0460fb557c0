"""Match in a round: paper sets of candidates, and the paper with its masks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from builder.families.match.masks import FEWEST, Mask, around, best, distractors, masks_of, summary, tag_of, wide
from builder.families.reading.asking import LABEL_TOKENS, LEAST_PAPERS, PaperSet, ReadingAsker, fill, part_of
from builder.families.reading.making import reading_family
from builder.families.reading.neutral import CITE, citations_in, without_overlaps
from builder.families.reading.papers_read import PaperLibrary
from builder.parquet.schema import Row
from builder.records import Paper, ReadingReason
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.families.reading.reading_row import Edit

# The masks of a paper, in the order of their numbers.
Masks = Sequence[Mask]


class MatchAsker(ReadingAsker[Masks]):
    """Match over the papers of a round; for `oldest` see `match.masks`."""

    task = "match"
    fewest = LEAST_PAPERS + 1
    too_few: ReadingReason = "too_few_works"
    keeps_apart = False

    def __init__(self, library: PaperLibrary, seed: int, oldest: int | None = 24) -> None:
        super().__init__(library, seed)
        self._masks = lru_cache(maxsize=1)(lambda id_: masks_of(library.read(id_), library, seed, oldest))

    def paper_sets(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        read = self.library.read(paper.id)
        if not read.resolved:
            return "unresolved_citations"
        chosen = self._masks(paper.id)
        if len(chosen) < FEWEST:
            return "too_few_masks"
        golds = [mask.work for mask in chosen]
        paper_sets = fill(paper, [*golds, *distractors(read, chosen, self.library)], sizes, self._tokens)
        needed = {work.id for work in golds}
        return {
            size: paper_set
            for size, paper_set in paper_sets.items()
            if needed < {other.id for other in paper_set.papers}
        }

    def _tokens(self, paper: Paper) -> int:
        read = self.library.read(paper.id)
        return token_counter()([read.shown.text[: read.shown.references]])[0] + LABEL_TOKENS

    def questions(self, paper_set: PaperSet, preferred: Sequence[Masks]) -> list[Masks]:
        return list(preferred) or [self._masks(paper_set.paper.id)]

    def key(self, question: Masks) -> Sequence[object]:
        return [self.task]

    def parts(self, paper_set: PaperSet) -> list[dict[str, Any]]:
        return [part_of(i, 0, self._end(paper)) for i, paper in enumerate(paper_set.papers) if i]

    def _end(self, paper: Paper) -> int:
        return self.library.read(paper.id).shown.references

    def asked(self, question: Masks, paper_set: PaperSet, label: Mapping[Any, int]) -> Row:
        labels = {paper.id: label[i, 0] for i, paper in enumerate(paper_set.papers) if i}
        read, candidates = self.library.read(paper_set.paper.id), paper_set.papers[1:]
        texts = [self.library.read(paper.id).shown.text[: self._end(paper)] for paper in candidates]
        # The shortcut looks for the sentences of a mask among titles and abstracts; the other search for more in whole texts.
        by_title = best([around(read, mask) for mask in question], list(map(summary, candidates)), candidates)
        by_body = best([wide(read, mask) for mask in question], texts, candidates)
        answer = [mask.work.id for mask in question]
        found = zip(answer, by_title, by_body, strict=True)
        tags = [tag_of(title == right, body == right) for right, title, body in found]
        return {
            "kind": "masks",
            "answer": list(map(labels.__getitem__, answer)),
            "shortcut": list(map(labels.__getitem__, by_title)),
            "asked": list(range(1, len(answer) + 1)),
            "tags": tags,
            "cited_by": [mask.cited_by for mask in question],
            "ages": [mask.age for mask in question],
        }

    def last(self, question: Masks, paper_set: PaperSet) -> list[dict[str, Any]]:
        """Return the paper that is asked about, without its reference list. Its other citations tell which works are not meant, and so
        go.
        """
        read = self.library.read(paper_set.paper.id)
        # A marker may cite two works that are masked.
        masked: dict[tuple[int, int, int], str] = {}
        for number, mask in enumerate(question, 1):
            masked |= {span: f"{masked.get(span, '')}[MASK {number}]" for span in mask.spans}
        abstract = read.paper.abstract
        at = read.shown.text.index(abstract, len(read.paper.title))
        # The abstract has citations, too; a work that is named there is not masked.
        edits = [asdict(Edit(at + start, at + end, CITE)) for start, end in citations_in(abstract, ())]
        for section, at in read.shown.sections.items():
            text = read.document.sections[section].text
            own = [Edit(start, end, mark) for (i, start, end), mark in masked.items() if i == section]
            cited = [(mention.start, mention.end) for mention in read.document.mentions if mention.section == section]
            others = (Edit(start, end, CITE) for start, end in citations_in(text, cited))
            free = [edit for edit in others if all(edit.end <= one.start or one.end <= edit.start for one in own)]
            edits += [
                asdict(Edit(at + edit.start, at + edit.end, edit.text)) for edit in without_overlaps([*own, *free])
            ]
        return [part_of(0, 0, self._end(paper_set.paper), edits)]


FAMILY = reading_family(lambda library, round_: [MatchAsker(library, round_.seed)])
