"""`academiceval import scalar` and `scalar-papers`: the published questions, and questions made of SCALAR's structured papers.

A published question: `question` (the whole prompt), `paper_id` (URL), `label_id`, `candidates` (`id`, `title`), `citation`,
`additional_fields`, `id`, and `level`, which SCALAR's repository (https://github.com/LibrAIResearch/scalar, read
2026-11) shows in the folder's name alone: `data/test_data/cloze_examples_<level>/<paper>_<n>.json`, one object a file.
Other files: JSON lists or JSON lines, compressed with xz or not. The prompts of our rows come out byte for byte.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from builder.dataset.folder import finish_import, replacing
from builder.errors import FolderError
from builder.families.match import MatchAsker
from builder.families.papers import write_texts
from builder.families.reading.choosing import NewPapers
from builder.families.reading.papers_read import PaperLibrary
from builder.families.reading.writing import ReadingWriter
from builder.families.scalar import write_level
from builder.families.scalar.citation_classifier import types_of
from builder.families.scalar.columns import row_of
from builder.families.scalar.questions import QuestionMaker, ask_all, turn_of
from builder.families.scalar.structured import Structured, paper_of, read_structured
from builder.packed import ERRORS, lines_of, read_packed
from builder.records import UNKNOWN_LICENSE, Paper
from builder.round.tables import READINGS, ScalarTable
from builder.seeding import digest_of, row_order
from builder.sources.tokenizer import token_counter
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import BODY, Measured
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import ODD, parse_json, title_key, why
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.scalar import ALL_LEVELS, LEVELS
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser

_LOGGER = logging.getLogger(__name__)

# ICLR 2025, whose papers the published questions are made of.
ROUND = "2025.01"
_READINGS = ("Match-128K", "Match-256K")


def import_questions(source: Path, output: Path, choosers: Mapping[Measured, Chooser]) -> list[StageReport]:
    """Return the published questions as a dataset folder, all in the test split. Drop reasons: bad_record, repeated.

    Raises:
        FolderError: there are none, or none can be read.
    """
    report = StageReport("import SCALAR")
    rows: dict[str, list[dict[str, Any]]] = {}
    seen: set[str] = set()
    for name, row in read_questions(source):
        if isinstance(row, str):
            report.drop(f"{name}, {row}", "bad_record")
        elif row["id"] in seen:
            report.drop(name, "repeated")
        else:
            seen.add(row["id"])
            report.kept += 1
            rows.setdefault(row["level"], []).append(row)
    for id_, titles in repeated_texts(row for of_level in rows.values() for row in of_level).items():
        _LOGGER.warning("%s: one text is shown as that of %s", id_, " and of ".join(map(repr, titles)))
    if not report.kept:
        raise FolderError(f"no question could be read in {source} ({report.line()})")
    with replacing(output) as draft:
        built = [
            write_level(draft, level, {"test": rows[name]}, ROUND, token_counter(), choosers)
            for level in LEVELS
            if (name := level.short_name) in rows
        ]
        finish_import(draft, ROUND, "https://github.com/LibrAIResearch/scalar", built, [report])
    return [report]


def import_papers(source: Path, output: Path, seed: int, choosers: Mapping[Measured, Chooser]) -> list[StageReport]:
    """Make SCALAR's questions and Match from its structured papers; a report for each configuration.

    Raises:
        FolderError: the file cannot be read, or no question could be made.
    """
    structured, usual = read_structured(source), ScalarTable()
    in_turn = sorted(structured.citing, key=lambda citing: turn_of(citing.paper, seed))
    built: list[ListedConfiguration] = []
    reports: list[StageReport] = []
    with replacing(output) as draft:
        for level in ALL_LEVELS:
            maker = QuestionMaker(level, seed, structured.known.get, types_of, usual.questions_of_paper, "published")
            placed = ask_all(maker, progress(in_turn, level.name), seed, usual.questions)
            built.append(write_level(draft, level, {"test": map(row_of, placed)}, ROUND, token_counter(), choosers))
            reports.append(maker.report)
        # Match over the papers and what they cite.
        library, papers = library_of(structured, seed)
        readings = [reading for reading in READINGS if reading.name in _READINGS]
        writer = ReadingWriter(draft, library, ROUND)
        new = NewPapers(papers, {}, len(papers))
        for configuration, of_one in writer.write([MatchAsker(library, seed, None)], readings, new):
            built.append(configuration)
            reports += of_one
        if writer.shown:
            texts, of_texts = write_texts(draft, library, writer.shown, ROUND)
            built.append(texts)
            reports += of_texts
        if not any(configuration.samples for configuration in built):
            raise FolderError(f"no question could be made of {source} ({'; '.join(r.line() for r in reports)})")
        finish_import(draft, ROUND, source.name, built, reports)
    return reports


def library_of(structured: Structured, seed: int) -> tuple[PaperLibrary, list[Paper]]:
    """Return the papers and what they cite, and the papers in the order in which they are asked about."""
    citing = {each.paper.id: each for each in structured.citing}
    papers = sorted((each.paper for each in structured.citing), key=lambda paper: row_order(paper.versioned_id))

    def others(paper: Paper) -> list[Paper]:
        return sorted(papers, key=lambda other: digest_of(seed, paper.id, other.id, "context"))

    library = PaperLibrary(
        {id_: partial(citing.__getitem__, id_) for id_ in citing},
        lambda id_: citing[id_].cited.values(),
        structured.known.get,
        others,
    )
    return library, papers


# Of the repository: `cloze_examples_easy` and so on.
_FOLDER = "cloze_examples_"
_LEVELS = tuple(level.short_name for level in LEVELS)
# What a reference says behind a title.
_YEAR = re.compile(r"(?:,(?: \w+)?)? (?:19|20)\d\d\w?\.?$")
_TYPES = {"method": "attributional", "others": "descriptive"}
_SCOPES = {"full": "full", "section": "section"}


def read_questions(folder: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yield the questions in a folder or file, or in a copy of SCALAR's repository: a name for each, and its row; or why it cannot be read.

    Raises:
        FolderError: there is no file of questions.
    """
    files = _files(folder)
    if not files:
        raise FolderError(f"{folder} contains no questions: .json or .jsonl files, compressed with xz or not")
    for file in files:
        for number, record in enumerate(_records(file), 1):
            name = f"{file.parent.name}/{file.name}:{number}"
            try:
                yield name, _row(record, file.parent.name.removeprefix(_FOLDER))
            except ODD as err:
                yield name, why(err)


def repeated_texts(rows: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the questions with a candidate whose text stands under another title too, in any question: their ids, and the titles.

    At most one of the titles is the text's own: SCALAR found the texts by titles, and some works have two ids.
    """
    candidates = [(row["id"], candidate) for row in rows for candidate in row["candidates"] if candidate["content"]]
    titles: dict[str, dict[str, str]] = defaultdict(dict)
    for _, candidate in candidates:
        titles[candidate["content"]].setdefault(title_key(_YEAR.sub("", candidate["title"])), candidate["title"])
    several = ((id_, list(titles[candidate["content"]].values())) for id_, candidate in candidates)
    return {id_: of_text for id_, of_text in several if len(of_text) > 1}


def _files(folder: Path) -> list[Path]:
    """Return the files of questions; in a repository, only those in its folders of questions."""
    if folder.is_file():
        return [folder]
    files = sorted(path for path in folder.rglob("*") if re.search(r"\.jsonl?(\.xz)?$", path.name))
    return [path for path in files if path.parent.name.startswith(_FOLDER)] or files


def _records(file: Path) -> list[Any]:
    try:
        if ".jsonl" in file.name:
            return [_parse_line(line) for line in lines_of(file) if line is None or line.strip()]
        read = parse_json(read_packed(file))
    except (*ERRORS, ValueError) as err:
        raise FolderError(f"{file} cannot be read as JSON: {err}") from err
    return read if isinstance(read, list) else [read]


def _parse_line(line: bytes | None) -> Any:
    """Return a line's record; None, which is never a record, if it cannot be read."""
    try:
        return None if line is None else parse_json(line)
    except ValueError:
        return None


def _row(record: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return a row in our form; its folder names the level of a record that does not."""
    level = str(record.get("level") or folder).lower()
    if level not in _LEVELS:
        raise ValueError(f"the level {level!r:.40} must be one of {', '.join(_LEVELS)}")
    question, texts = _split_prompt(record["question"])
    candidates = [_candidate(text, entry) for text, entry in zip(texts, record["candidates"], strict=True)]
    fields, citation = record["additional_fields"], record["citation"]
    shown = fields["candidate_fields"]
    # A section is shown without the paper's title.
    paper = paper_of(record["paper_id"], question.partition("\n")[0] or record["paper_id"], "")
    row = {
        "id": f"{paper.versioned_id}#{level}-{record['id']}",
        "paper_id": paper.versioned_id,
        "title": paper.title,
        "authors": [],
        "level": level,
        "section": citation["section_name"],
        "citation_type": _TYPES[citation["citation_type"]],
        "question_paper": _SCOPES[fields["paper_field"]],
        "distractors": fields["sample"],
        "candidate_text": BODY if "body_content" in shown else "full" if "sections" in shown else "concise",
        "question": question,
        "candidates": candidates,
        "label": int(record["label_id"]),
        "published": paper.published.isoformat(),
        "license": UNKNOWN_LICENSE,
    }
    if not 0 <= row["label"] < len(candidates):
        raise ValueError(f"the label {row['label']} is not one of its {len(candidates)} candidates")
    if "".join(slot.text for slot in slots_of(typed(ScalarRow, {**row, "round": ""}))) != record["question"]:
        raise ValueError("the prompt has words that ours does not have")
    return row


def _split_prompt(prompt: str) -> tuple[str, list[str]]:
    _, mark, rest = prompt.partition("<Paper>\n\n")
    question, between, rest = rest.partition("</Paper>\n\n<References>\n")
    references, end, _ = rest.rpartition("</References>\nRemember")
    if not (mark and between and end):
        raise ValueError("no paper and references in the prompt")
    texts = []
    for candidate in references.split("</Candidate>\n\n")[:-1]:
        _, mark, text = candidate.partition("<Candidate>Candidate [")
        number, middle, text = text.partition("]:\n")
        if not (mark and middle and number.isdigit()):
            raise ValueError("a candidate without its mark")
        texts.append(text)
    return question, texts


def _candidate(text: str, entry: dict[str, Any]) -> dict[str, str]:
    title, content = entry["title"], text.lstrip("\n") if text.startswith("\n") else text[len(entry["title"]) + 2 :]
    return {"id": entry["id"], "title": title, "license": UNKNOWN_LICENSE, "content": content}
