"""Papers that were taken back, by what their records say: one list of marks for all sources. A paper about taking back is none.

arXiv has no flag for withdrawal: authors or moderators say so in the comment or, at its beginning, in the abstract
(https://info.arxiv.org/help/withdraw.html). Publishers put a word before the title, and link the notice
(https://jats4r.niso.org/article-publication-history-events).
"""

import re

_PAPER = r"(?:paper|article|manuscript|submission|preprint|report|work|version)"
_IS, _BACK = (
    r"(?:(?:has|have|had) (?:now |since )?been|is|was|is being|(?:needs to|must|should) be)(?: \w+ly)?",
    # One that a conference does not review any more goes on here.
    r"(?:withdrawn|retracted|removed (?:by|from) (?:the )?arxiv)\b(?!-)"
    r"(?! from (?:the )?(?:iclr|neurips|nips|icml|[a-z]{0,4}acl|emnlp|aaai|cvpr|[ie]ccv|ijcai|kdd"
    r"|sigir|review|conference|journal|market|sale|circulation))",
)
_TAKEN_BACK = (
    rf"(?:this|the|our) (?:arxiv |current |present )?{_PAPER}(?: of (?:this|the|our) {_PAPER})? (?:{_IS} )?{_BACK}"
    r"|(?:we|i|(?:the )?authors?|(?:bio|med)rxiv|arxiv) (?:\w+ly |hereby )?(?:have |has |are |am )?(?:\w+ly )?"
    rf"(?:(?:decided|chosen|wish|want|would like) to )?(?:withdr[ae]w|withdrawn|withdrawing|retract|retracted|retracting)"
    rf" (?:this|the|our|their) {_PAPER}\b(?!['’]s)"
)
_BY = r"by (?:the |its |an? )?(?:authors?|editors?|publishers?|submitters?|(?:arxiv )?admins?|arxiv|journal|one of)"
_WHY = rf"(?=\W*$|\W+(?:{_BY}|due|because|for|as|pending|until|since|after|in order|in favou?r of|from (?:the )?arxiv|temporarily)\b)"
_SAID = re.compile(
    rf"^\W*(?:v\d+\W+|please ignore\W+|arxiv admin (?:note|comment)\W+|(?:\d+ (?:pages|figures)\W+){{1,2}})?"
    rf"(?:{_PAPER} (?:{_IS} )?|temporarily )?(?:withdrawn|retracted)\b"
    rf"(?:{_WHY}|\s*[:;]|(?<!temporarily withdrawn),|\.\s|\s+[-–—(])|{_TAKEN_BACK}"
    rf"|(?:^|\bthe )authors? (?:(?:have|has) withdrawn|withdraw)\b{_WHY}"
    rf"|\b{_PAPER} (?:withdrawn|removed (?:by|from) arxiv)\b{_WHY}|(?<!papers )(?<!articles )\b(?:removed|withdrawn) by arxiv\b"
    r"|\bduplicate of\b.{0,80}\bwithdrawn\b(?! from)",
    re.IGNORECASE,
)
_OPENS = re.compile(
    rf"\W*(?:withdrawal statement\W+)?(?:[A-Z][^.!?]{{0,300}}[.!?,]\s+)?(?:this {_PAPER} was [\w ]{{1,40}} and {_IS} {_BACK}{_WHY}"
    rf"|(?:{_PAPER} )?(?:withdrawn|retracted)\b{_WHY}|{_TAKEN_BACK}"
    rf"|the authors? (?:have|has) withdrawn\b{_WHY}"
    rf"|(?:(?:this|the)(?: {_PAPER})? (?:is|was) )?(?:a )?duplicate of\b.{{0,80}}\bwithdrawn\b(?! from))",
    re.IGNORECASE,
)
# What another paper is called.
_OTHER_PAPER = re.compile(
    r"supersede|replace|(?:previous|earlier|first|old) (?:version|paper|submission)|version of", re.IGNORECASE
)
_IN_TITLE = re.compile(
    # "Withdrawn: how ..." is a title of its own.
    r"^\W*(?:(?:retracted|withdrawn)(?: (?:article|paper|chapter|preprint))?|(?:notice|statement) of retraction"
    r"|(?-i:TEMPORARY REMOVAL|REMOVED|WITHDRAWAL))"
    r"\s*(?:[\]–—-]|:(?!\s*(?-i:[a-z])))|^\W*(?:retracted article:|(?-i:RETRACTED)\b|notices? of retraction\b)"
    r"|^\W*(?:retraction|withdrawal) (?:note|notice|statement)\s*:\s*(?=[“‘\"']|(?-i:[A-Z]))"
    r"|^\W*retraction(?: note| notice)?\s*(?:[\]–—]|:\s*(?=[“‘\"']|(?-i:[A-Z]))(?!a\b)|(?:to|of)\s*[:“‘\"'])"
    r"|[(\[](?:retracted|withdrawn)(?: (?:article|paper))?(?:[)\]]\W*$|\. see\b)"
    r"|[.:–—-]\s*(?-i:RETRACTED|WITHDRAWN)\W*$|\s[–—-]+\s(?:retracted|withdrawn)\W*$"
    rf"|^\W*this {_PAPER} {_IS} {_BACK}\W*$",
    re.IGNORECASE,
)
# What a retracted article says of its notice, and a notice of the article.
OF_ARTICLES = frozenset(
    "retraction retracted retraction-forward retracted-article retracted-by withdrawal withdrawal-forward removal".split()
)


def is_taken_back(title: str | None, abstract: str | None, comment: str | None = None) -> bool:
    """Tell whether a record says that its paper was withdrawn or retracted."""
    said = _SAID.search(comment or "")
    # "Withdrawn. Superseded by ..." is said of this paper.
    says_it = said and (said.start() == 0 or not _OTHER_PAPER.search(comment or ""))
    return bool(says_it or _OPENS.match(abstract or "") or _IN_TITLE.search(title or ""))
