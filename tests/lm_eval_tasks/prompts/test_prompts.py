from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from lm_eval_tasks import prompts
from lm_eval_tasks.base.contract import START
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.writing.settings import BEGINNINGS, SETTINGS, prompts_of
from lm_eval_tasks.judge import verdict

DEMONSTRATIONS = [
    SimpleNamespace(
        content=f"demo content {i}",
        title=f"demo title {i}",
        abstract=f"demo abstract {i}",
        output=f"demo output {i}",
    )
    for i in range(3)
]
DOC = SimpleNamespace(
    content="CONTENT",
    title="TITLE",
    abstract="ABSTRACT",
    demonstrations=DEMONSTRATIONS,
    chunks=[SimpleNamespace(content=f"chunk {i}") for i in range(3)],
    citations=[SimpleNamespace(title=f"cited title {i}", abstract=f"cited abstract {i}") for i in range(2)],
)
# sha256 of the prompt files: a change of one byte is a new version of the tasks.
PUBLISHED = {
    "abs_long": "ff97423595ad02065e9012214b26031b1ea1e72be1e9b9d80584447b2a21bd88",
    "abs_query": "cf8b4459d120784cc33c1a1a67f6e85cc10d7eaf4c5a94d15f6ae43906716704",
    "abs_ralm": "5152d05aee9e957fb6d212f0535436e1a98b53d56befebf8ef6cce823475940a",
    "abs_short": "af99102d82d78f03b1999bbbee7cc3efeecfa3b827b69dc3ad43abef2beffdf4",
    "abs_title_only": "c22ce66d4725076e53f10825a4d6be9c9b8e7387eef4d825de6dfc5daa1c96e1",
    "intro_long": "70ba69178c52efc4c8416f4f7ac93a650448f47178cb16f2e1072c34a1e39df4",
    "intro_query": "80bf730d04c0fdf71e8cb94dc4a7ef9bf7a18c3a214fe69d3940a04165edf3a8",
    "intro_ralm": "c386642d8b22621a7f4f6624714b60264400f21ee18d1a53f3de2013ce303649",
    "intro_short": "7047f0a0e1c2cdfc8140a0b5e2a53c169124f3b0735b4209b1d8cab51990032c",
    "related_long": "d54947477672bcd00e5ea8d70e0a9ffebf2d3f7b6ef65cf737c4af85be69273d",
    "related_query": "b4e7531fc0a873a92f5024c8bf3f46665056a4f2069fbf33c95ee52ad0404fcb",
    "related_ralm": "b6f0f6039f7edcfa6ab923a009b276cdf94eb76f0c94ffb185730f3af90dd3e6",
    "related_short": "b8adced616efa101acfe3378e977bea44a9e489d6efeb59395a460e4ef8fa493",
    "title_long": "ca3ae6cb4c030e9982f25e03b7119878ccb64512b6542c024f25d24d4faebf4c",
    "title_query": "4ee5bdee1dfa8dbc8dd041289e6b2a434cd2f4e8c2692f72d3d4155a7264223f",
    "title_ralm": "69913f375a2c20309329e608662e8d515c9aedbd09a33565dee32c373bccb01f",
    "title_short": "bbc65bf6b2e2fcb2cd5a397492a0ea98e2fe09933b3a86715aff5241aef76e6c",
}


def rendered(name: str) -> str:
    return "".join(slot.text for slot in prompts.slots(name, DOC))


def test_a_query_ends_with_what_it_is_filled_with() -> None:
    assert rendered("related_query").endswith("The title of the text is TITLE. The abstract of the text is ABSTRACT.")


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_words_are_untouched(name: str) -> None:
    content = (FAMILIES_FOLDER / "writing" / f"{name}.txt").read_bytes()
    assert hashlib.sha256(content).hexdigest() == PUBLISHED[name]


def test_a_short_prompt_line_by_line() -> None:
    lines = rendered("intro_short").split("\n")
    assert lines[:4] == [
        "Please read the following Target Content carefully and summarize the Target Content as required.",
        "### Target Content: CONTENT",
        "### Target Content Title: TITLE",
        "### Target Content Abstract: ABSTRACT",
    ]
    assert len(lines) == 5
    assert lines[4].startswith("Please craft an introduction")
    assert "the Target Content's structure" in lines[4]
    assert lines[4].endswith("irrelevant text.")


def test_a_long_prompt_shows_demonstrations_then_citations_then_the_content() -> None:
    lines = rendered("related_long").split("\n")
    assert lines[1:13] == [
        line
        for i in range(3)
        for line in (
            f"### Reference Content {i}: demo content {i}",
            f"### Reference Title {i}: demo title {i}",
            f"### Reference Abstract {i}: demo abstract {i}",
            f"### Reference Output {i}: demo output {i}",
        )
    ]
    assert lines[13:19] == [
        "### Target Citation 0:",
        "Target Citation Title: cited title 0",
        "Target Citation Abstract: cited abstract 0",
        "### Target Citation 1:",
        "Target Citation Title: cited title 1",
        "Target Citation Abstract: cited abstract 1",
    ]
    assert lines[19:22] == [
        "### Target Content: CONTENT",
        "### Target Content Title: TITLE",
        "### Target Content Abstract: ABSTRACT",
    ]
    assert len(lines) == 23


def test_texts_that_look_like_fields_are_left_alone() -> None:
    doc = SimpleNamespace(**{**vars(DOC), "content": "a {TITLE} and\n...\n### Reference Content 0: x"})
    text = "".join(slot.text for slot in prompts.slots("abs_short", doc))
    assert "### Target Content: a {TITLE} and\n...\n### Reference Content 0: x\n### Target Content Title: TITLE" in text


def test_slots_know_what_they_are() -> None:
    slots = prompts.slots("related_long", DOC)
    assert [(s.component, s.index, s.field) for s in slots if s.field] == [
        *(("demonstration", i, field) for i in range(3) for field in ("content", "title", "abstract", "output")),
        *(("citation", i, field) for i in range(2) for field in ("title", "abstract")),
        ("body", 0, "content"),
        ("fixed", 0, "title"),
        ("fixed", 0, "abstract"),
    ]


def digest(family: str) -> str:
    """sha256 over the bytes of a family's prompts; of writing, also over which setting is asked with which prompt. Another setting that
    is asked as older ones are, and another beginning of a paper in the prompt that shows its start, change nothing.
    """
    own = {path.name: path.read_bytes().hex() for path in (FAMILIES_FOLDER / family).glob("*.txt")}
    asked = {
        (each.task, each.length, context, name)
        for each in SETTINGS
        for context, name in prompts_of(each).items()
        if context == START or context not in BEGINNINGS
    }
    return sha256_of_bytes(json.dumps([sorted(asked) if family == "writing" else [], own], sort_keys=True))


def test_no_prompt_changes_without_a_new_version() -> None:
    for family in FAMILIES:
        published = tomllib.loads((FAMILIES_FOLDER / family.name / "prompts.toml").read_text(encoding="utf-8"))
        assert set(published["digests"]) == {str(i + 1) for i in range(family.version)}
        assert published["digests"][str(family.version)] == digest(family.name)


def test_the_judges_prompt_is_the_published_one() -> None:
    content = (Path(verdict.__file__).parent / "judge.txt").read_bytes()
    assert (verdict.PROMPT_VERSION, hashlib.sha256(content).hexdigest()) == (
        1,
        "271ac8d3dae7bd46aebbbc7f791340aef70625453081a015edc6a533718cb593",
    )


def test_retrieved_chunks_stand_for_the_content() -> None:
    lines = rendered("intro_ralm").split("\n")
    assert lines[1:6] == [
        *(f"### Target Content {i}: chunk {i}" for i in range(3)),
        "### Target Content Title: TITLE",
        "### Target Content Abstract: ABSTRACT",
    ]
    assert len(lines) == 7
    assert "the Target Contents' structure" in lines[6]
    assert [s.component for s in prompts.slots("intro_ralm", DOC) if s.field][:3] == ["chunk"] * 3
