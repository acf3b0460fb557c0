"""Papers and the papers that they cite -> SCALAR questions (SCALAR paper, section 2).

Every choice is seeded by what it is about (a paper, a citation), so that nothing depends on the order of work, and levels that
mask the same citations ask the same questions with the same distractors, as far as their texts are available.
Drop reasons (of citations): `ClozeReason`.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from builder.collect.near_duplicates import near_duplicate
from builder.extract.sections import TopSection, top_sections
from builder.families.scalar.citation_classifier import CitationInText, is_single
from builder.families.scalar.shown import (
    Candidate,
    ClozeQuestion,
    Lengths,
    candidate_of,
    cut_at,
    question,
    whole_mention,
)
from builder.records import Cited, Citing, Document, Mention, Paper
from builder.seeding import digest_of, integer_of, row_order
from builder.stage_report import StageReport
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.families.scalar import CitationType, Level

ClozeReason = Literal[
    "grouped",
    "unresolved",
    "other_type",
    "paper_length",
    "gold_without_text",
    "gold_too_long",
    "too_few_candidates",
    "mask_beyond_cut",
    "repeated",
    "excluded",
    "enough_of_paper",
    "enough_questions",
]
CANDIDATES = 4
# Of a question paper's sections, as SCALAR's code limits them (src/paper.py).
_PAPER_CHARACTERS = range(10_000, 100_001)
_NEAREST = 4
_CONTEXT = 300
# A place with the end of a sentence in it, or of more characters, is no citation.
_SENTENCES, _LONGEST = re.compile(r"[a-z]{3,}[.!?]\s+[A-Z]"), 120


@dataclass(frozen=True, slots=True)
class _Maskable:
    """A citation that may be masked."""

    mention: Mention
    section: TopSection
    cited_id: str


Typing = Callable[[Sequence[CitationInText]], Sequence[CitationType]]


class QuestionMaker:
    """Makes the questions of one level.

    Args:
        known: id -> what is known of a cited paper.
        typing: tells attributional from descriptive citations.
        most: questions of a paper.
        lengths: whether long papers are cut, or left out as SCALAR's code does.
    """

    def __init__(
        self,
        level: Level,
        seed: int,
        known: Callable[[str], Cited | None],
        typing: Typing,
        most: int,
        lengths: Lengths = "cut",
    ) -> None:
        self._level, self._seed, self._typing, self._most, self._lengths = level, seed, typing, most, lengths
        self._known = known
        self._candidates = cache(lambda id_: candidate_of(known(id_), level, lengths))
        self.report = StageReport(f"questions {level.name}")

    def ask(self, citing: Citing) -> list[ClozeQuestion]:
        """Ask up to `most` questions of a paper, each about another cited work, in the order in which they are wanted."""
        sections = top_sections(citing.document)
        questions: list[ClozeQuestion] = []
        seen: set[str] = set()
        named = [(self._name(citing, maskable.mention), maskable) for maskable in self._maskable(citing, sections)]
        for name, maskable in sorted(named, key=lambda item: integer_of(self._seed, item[0], "rank")):
            if len(questions) == self._most:
                self.report.drop(name, "enough_of_paper")
            elif maskable.cited_id in seen:
                self.report.drop(name, "repeated")
            else:
                outcome = self._question(citing, maskable, sections)
                if isinstance(outcome, ClozeQuestion):
                    seen.add(maskable.cited_id)
                    questions.append(outcome)
                else:
                    self.report.drop(name, outcome)
        return questions

    def _maskable(self, citing: Citing, sections: Sequence[TopSection]) -> Iterator[_Maskable]:
        """Yield the single citations of the wanted type whose work is known; the others are counted."""
        of_section = {i: section for section in sections for i in section.sections}
        mentions = [mention for mention in citing.document.mentions if mention.section in of_section]
        characters = sum(len(citing.document.sections[i].text) for i in of_section)
        if self._lengths == "published" and characters not in _PAPER_CHARACTERS:
            for mention in mentions:
                self.report.drop(self._name(citing, mention), "paper_length")
            return
        citations = [citation_in_text(citing.document, mention) for mention in mentions]
        for mention, citation, citation_type in zip(mentions, citations, self._typing(citations), strict=True):
            name = self._name(citing, mention)
            if not citation.single:
                self.report.drop(name, "grouped")
            elif mention.references[0] not in citing.cited:
                self.report.drop(name, "unresolved")
            elif citation_type != self._level.citation:
                self.report.drop(name, "other_type")
            else:
                yield _Maskable(mention, of_section[mention.section], citing.cited[mention.references[0]])

    def _question(
        self, citing: Citing, maskable: _Maskable, sections: Sequence[TopSection]
    ) -> ClozeQuestion | ClozeReason:
        name = f"{citing.paper.versioned_id}#{citing.document.mentions.index(maskable.mention)}"
        gold = self._candidates(maskable.cited_id)
        if not isinstance(gold, Candidate):
            return gold
        paper, level, most = citing.paper, self._level, cut_at(self._lengths)
        mention = whole_mention(citing.document, maskable.mention)
        text = question(citing.document, paper.title, paper.abstract, mention, level.question, most)
        if text is None:
            return "mask_beyond_cut"
        distractors = self._distractors(citing, maskable, sections, gold)
        if len(distractors) < CANDIDATES - 1:
            return "too_few_candidates"
        return ClozeQuestion(name, paper, level, maskable.section.heading, text, (gold, *distractors), 0)

    def _distractors(
        self, citing: Citing, maskable: _Maskable, sections: Sequence[TopSection], gold: Candidate
    ) -> list[Candidate]:
        nearest = self._level.distractors == "nearest"
        cited = _by_distance(citing, maskable, sections) if nearest else sorted(citing.cited.values())
        pool = list(dict.fromkeys(cited))
        name = self._name(citing, maskable.mention)
        shuffle = random.Random(integer_of(self._seed, self._level.distractors, name)).shuffle
        if not nearest:
            shuffle(pool)
        limit = _NEAREST if nearest else CANDIDATES - 1
        distractors: list[Candidate] = []
        # A work may be known under two ids.
        titles = {title_key(gold.title)}
        for id_ in pool:
            if len(distractors) == limit:
                break
            distractor = None if self._is_copy(id_, maskable.cited_id) else self._candidates(id_)
            if isinstance(distractor, Candidate) and title_key(distractor.title) not in titles:
                distractors.append(distractor)
                titles.add(title_key(distractor.title))
        if nearest:
            shuffle(distractors)
        return distractors[: CANDIDATES - 1]

    def _is_copy(self, id_: str, other: str) -> bool:
        """Tell whether two ids are of one work, or of nearly the same."""
        papers = [cited.paper for cited in map(self._known, (id_, other)) if cited]
        texts = [text for paper in papers for text in (paper.title, paper.abstract)]
        return id_ == other or (len(papers) == 2 and near_duplicate(*texts))

    @staticmethod
    def _name(citing: Citing, mention: Mention) -> str:
        return f"{citing.paper.id}#{mention.section}:{mention.start}"


def turn_of(paper: Paper, seed: int) -> bytes:
    """Return what papers are sorted by to be asked about in turn."""
    return digest_of(seed, paper.id, "questions")


def ask_all(
    maker: QuestionMaker, papers: Iterable[Citing], seed: int, most: int, excluded: frozenset[str] = frozenset()
) -> list[ClozeQuestion]:
    """Ask up to `most` questions, in the order of the rows, their right candidates in even positions.

    One question of each paper comes before a second one of any, so that they come from as many papers as possible. No
    more papers are tried than that takes.

    Args:
        excluded: ids of questions that are left out.
    """
    turns: list[list[ClozeQuestion]] = []
    for citing in papers:
        questions = maker.ask(citing)
        turns += [[] for _ in range(len(questions) - len(turns))]
        for turn, cloze in zip(turns, questions, strict=False):
            turn.append(cloze)
        if turns and len(turns[0]) == most:
            break
    questions = [cloze for turn in turns for cloze in turn]
    for cloze in questions[most:]:
        maker.report.drop(cloze.id, "enough_questions")
    placed = balance_positions(sorted(questions[:most], key=lambda cloze: row_order(cloze.id)), seed)
    # Last, so that all others stay as they were.
    for cloze in (cloze for cloze in placed if cloze.id in excluded):
        maker.report.drop(cloze.id, "excluded")
    kept = [cloze for cloze in placed if cloze.id not in excluded]
    maker.report.kept += len(kept)
    return kept


def balance_positions(questions: Iterable[ClozeQuestion], seed: int) -> list[ClozeQuestion]:
    """Return the questions with their right candidates spread evenly over the positions, then the others in their order."""
    placed: list[ClozeQuestion] = []
    for k, cloze in enumerate(questions):
        block = list(range(CANDIDATES))
        random.Random(integer_of(seed, cloze.level.citation, str(k // CANDIDATES))).shuffle(block)
        label = block[k % CANDIDATES]
        gold, *others = cloze.candidates
        others.insert(label, gold)
        placed.append(replace(cloze, candidates=tuple(others), label=label))
    return placed


def citation_in_text(document: Document, mention: Mention) -> CitationInText:
    """Return the words around a citation."""
    text = document.sections[mention.section].text
    is_long = mention.end - mention.start > _LONGEST
    is_of_sentences = is_long or _SENTENCES.search(text, mention.start, mention.end) is not None
    alone = mention.start < mention.end and not (mention.grouped or is_of_sentences) and len(mention.references) == 1
    around = CitationInText(
        text[max(0, mention.start - _CONTEXT) : mention.start],
        text[mention.start : mention.end],
        text[mention.end : mention.end + _CONTEXT],
        document.sections[mention.section].heading,
        str(mention.references[0]) if len(mention.references) == 1 else "",
    )
    return replace(around, single=alone and is_single(around))


def _by_distance(citing: Citing, maskable: _Maskable, sections: Sequence[TopSection]) -> Iterator[str]:
    """Yield the cited papers from the nearest citation outwards: those of the same section first, then of the adjacent ones."""
    offsets: dict[int, tuple[int, int]] = {}
    total = 0
    for k, section in enumerate(sections):
        for i in section.sections:
            offsets[i] = k, total
            total += len(citing.document.sections[i].text)
    own_part, own_offset = offsets[maskable.mention.section]

    def distance(mention: Mention) -> tuple[int, int]:
        k, offset = offsets[mention.section]
        return abs(k - own_part), abs(offset + mention.start - own_offset - maskable.mention.start)

    for mention in sorted((each for each in citing.document.mentions if each.section in offsets), key=distance):
        yield from (citing.cited[i] for i in mention.references if i in citing.cited)
