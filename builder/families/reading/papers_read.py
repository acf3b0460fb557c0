"""The papers that reading families know, of a round or a file, and what they cite: texts, lengths, citations and where they are."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from builder.extract.sections import top_sections
from builder.families.reading.citing import Called, Locations, places_of, section_kinds
from builder.families.reading.works import Entry, entries_of
from builder.records import Cited, Citing, Document, Paper
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.base.text import title_key

_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class ShownText:
    """A paper's whole text.

    Attributes:
        sections: index of a section of the document -> the character at which its text begins; acknowledgements and
            appendices are not shown.
        references: the character at which the reference list begins, its heading included.
    """

    text: str
    sections: dict[int, int]
    references: int


def shown_text(paper: Paper, document: Document) -> ShownText:
    """Return the text of a paper: headings after `##` and `###`, one paragraph a line, one reference a line."""
    written = [f"# {paper.title}{_GAP}## Abstract\n{paper.abstract}{_GAP}"]
    sections: dict[int, int] = {}
    length = len(written[0])
    for top in top_sections(document):
        for i in top.sections:
            section = document.sections[i]
            mark = "##" if i == top.sections[0] else "###"
            written.append(f"{mark} {section.heading}\n{section.text}{_GAP}")
            length += len(written[-1])
            sections[i] = length - len(section.text) - len(_GAP)
    entries = "\n".join(entry.raw for entry in document.references)
    return ShownText("".join(written) + f"## References\n{entries}\n", sections, length)


# Of a reference list that can be relied on: entries, the share of them with a title, and the shares of the titled ones that
# both ways find cited in the same places, and at all.
_LEAST_ENTRIES, _LEAST_TITLED, _LEAST_AGREED, _LEAST_CITED = 5, 0.6, 0.8, 0.7


class PaperRead:
    """A paper with its document; what takes time is worked out when it is first asked for.

    Args:
        resolved: entry of the reference list -> id of the arXiv paper that it is.
    """

    def __init__(self, paper: Paper, document: Document, resolved: Mapping[int, str]) -> None:
        self.paper, self.document, self.resolved = paper, document, resolved
        self.entries: list[Entry] = entries_of(paper.id, document, resolved)

    @cached_property
    def shown(self) -> ShownText:
        return shown_text(self.paper, self.document)

    @cached_property
    def tokens(self) -> int:
        return token_counter()([self.shown.text])[0]

    @cached_property
    def called(self) -> dict[int, Called]:
        """Section that is shown -> what it is called."""
        return section_kinds(self.document)

    @cached_property
    def locations(self) -> Callable[[int], Locations | None]:
        """Where an entry of its reference list is cited, see `citing`."""
        return places_of(self.document, frozenset(self.called))

    @cached_property
    def text_key(self) -> str:
        """Letters and digits of the whole text, to look for titles in."""
        return title_key(self.shown.text)

    @cached_property
    def references_key(self) -> str:
        """Letters and digits of the reference list."""
        return title_key(self.shown.text[self.shown.references :])

    @cached_property
    def listed_titles(self) -> str:
        """Letters and digits of all that a file has of the reference list: a title that is not in them is not in the list."""
        lists = [section.text for section in self.document.sections if section.role == "references"]
        return title_key("\n".join([*lists, *(entry.raw + entry.title for entry in self.document.references)]))

    @cached_property
    def has_sure_references(self) -> bool:
        """Whether its reference list was read well enough to ask about."""
        entries, titled = len(self.document.references), len(self.entries)
        if entries < _LEAST_ENTRIES or titled < _LEAST_TITLED * entries:
            return False
        agreed = [locations for entry in self.entries if (locations := self.locations(entry.number)) is not None]
        return len(agreed) >= _LEAST_AGREED * titled and sum(map(bool, agreed)) >= _LEAST_CITED * titled


# Papers whose texts are kept in memory.
_KEPT = 1024
NOTHING = Document("", "", ())


class PaperLibrary:
    """The papers that can be shown, read when they are wanted.

    Args:
        citing: id -> a paper of the round with its document, and what it cites.
        cited: id of a paper of the round -> ids of the works that it cites.
        work: id -> what is known of a cited work; None for nothing.
        around: a new paper -> the other papers, the nearest first.
    """

    def __init__(
        self,
        citing: Mapping[str, Callable[[], Citing]],
        cited: Callable[[str], Collection[str]],
        work: Callable[[str], Cited | None],
        around: Callable[[Paper], Sequence[Paper]],
    ) -> None:
        self._citing, self._cited, self.work, self.around = citing, cited, work, around
        self.read = lru_cache(maxsize=_KEPT)(self._read)

    def _read(self, id_: str) -> PaperRead:
        if id_ in self._citing:
            citing = self._citing[id_]()
            return PaperRead(citing.paper, citing.document, citing.cited)
        cited = self.work(id_)
        assert cited is not None, f"{id_} was chosen without being known"
        return PaperRead(cited.paper, cited.document or NOTHING, {})

    def cited_nearby(self, paper: Paper) -> Iterator[str]:
        """Yield the works that the other papers cite, those of the nearest first, each once."""
        seen: set[str] = set()
        for other in self.around(paper):
            for id_ in sorted(set(self._cited(other.id)) - seen):
                seen.add(id_)
                yield id_

    @cached_property
    def citations(self) -> Counter[str]:
        """Cited work -> how many of the papers cite it."""
        return Counter(cited for id_ in self._citing for cited in set(self._cited(id_)))
