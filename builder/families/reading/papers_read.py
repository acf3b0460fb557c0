"""What the reading families know of a paper: its text, how long it is, what it cites and where."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from builder.families.reading.citing import CitedPlaces, citing
from builder.families.reading.section_kinds import Called, section_kinds
from builder.families.reading.text import ShownText, shown_text
from builder.families.reading.works import Entry, entries_of
from builder.samples.tokens import token_counter
from lm_eval_tasks.base.text import title_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from builder.records import Document, Paper

# Of a reference list that can be relied on: entries, the share of them with a title, and the shares of the titled ones that
# both ways find cited in the same places, and at all.
_LEAST_ENTRIES = 5
_LEAST_TITLED = 0.6
_LEAST_AGREED = 0.8
_LEAST_CITED = 0.7


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
        [count] = token_counter()([self.shown.text])
        return count

    @cached_property
    def called(self) -> dict[int, Called]:
        """Section that is shown -> what it is called."""
        return section_kinds(self.document)

    @cached_property
    def citing(self) -> CitedPlaces:
        return citing(self.document, frozenset(self.called))

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
    def agreement(self) -> Counter[str]:
        """Titled entries by what both ways of finding where they are cited say: the same places ("agree"), both none ("nowhere"),
        different ones ("disagree"), or the second cannot tell ("untold").
        """
        return Counter(self._agree(entry.number) for entry in self.entries)

    def _agree(self, entry: int) -> str:
        second = self.citing.second(entry)
        if second is None:
            return "untold"
        if second != self.citing.first.get(entry, frozenset()):
            return "disagree"
        return "agree" if second else "nowhere"

    @property
    def has_sure_references(self) -> bool:
        """Whether its reference list was read well enough to ask about."""
        entries = len(self.document.references)
        return (
            entries >= _LEAST_ENTRIES
            and len(self.entries) >= _LEAST_TITLED * entries
            and self.agreement["agree"] + self.agreement["nowhere"] >= _LEAST_AGREED * len(self.entries)
            and self.agreement["agree"] >= _LEAST_CITED * len(self.entries)
        )
