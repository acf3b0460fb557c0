"""The reference dataset of the AcademicEval paper -> a dataset folder of ours, so that its round runs with our tasks.

Its layout (https://github.com/ulab-uiuc/AcademicEval, read 2026-11): a folder for each setting (`title_10K`, `abs_29K_G`) with
one JSON file for each sample, which lies in `train`, `val` or `test` or is named in `train.txt`, `val.txt` or `test.txt`; with
neither, all are test samples. A sample is a record with `gt` and `main_content`; random demonstrations are records in
`additional_info`, co-authors' papers are in `additional_graph_info["node_feat"]`; for related work it is the first of a
list, whose other records with the label "Related Work" are the citations. The first two of each kind are shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.dataset.folder import finish_import, replacing
from builder.errors import FolderError
from builder.families.writer import ConfigurationWriter
from builder.families.writing.columns import demonstration_of, row_of
from builder.ids import PaperId
from builder.packed import ERRORS, read_packed
from builder.records import PUBLIC_DOMAIN, DemoOrigin, Paper
from builder.sources.metadata_file import checked_paper
from builder.sources.tokenizer import TokenCounter, shown_beside, token_counter
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import Split, Task
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import ODD, day, parse_json, title_key
from lm_eval_tasks.families.writing.settings import SETTINGS, Setting

ROUND = "2024.06"
_SPLITS: dict[str, Split] = {"train": "train", "val": "validation", "test": "test"}
# What a co-author's paper shows as its output.
_OUTPUT: dict[Task, str] = {"title": "title", "abs": "abstract", "intro": "introduction", "related": "related"}


def import_academiceval(source: Path, output: Path) -> list[StageReport]:
    """Read the reference layout in `source` and write a dataset folder; a report for each setting found.

    Drop reasons: bad_record, second_sample_of_a_paper, too_few_random_demonstrations, too_few_co_author_demonstrations; of a folder
    with lists of its splits, not_listed and missing_file.

    Raises:
        FolderError: there is no setting, no sample can be read, or two splits list the same one.
    """
    # "Title-10K" is called title_10K, "Abs-29K-G" abs_29K_G.
    named = [
        (setting, source / (setting.name[:1].lower() + setting.name[1:]).replace("-", "_")) for setting in SETTINGS
    ]
    folders = [(setting, draft) for setting, draft in named if draft.is_dir()]
    if not folders:
        raise FolderError(f"{source} contains no folder of the reference dataset, such as title_10K or abs_29K_G")
    built: list[ListedConfiguration] = []
    reports: list[StageReport] = []
    with replacing(output) as draft:
        for setting, files in folders:
            report = StageReport(f"import {setting.name}")
            built.append(_import_setting(setting, files, draft, token_counter(), report))
            reports.append(report)
        if not any(configuration.samples for configuration in built):
            raise FolderError(f"no sample could be read in {source} ({'; '.join(r.line() for r in reports)})")
        finish_import(draft, ROUND, "https://github.com/ulab-uiuc/AcademicEval", built, reports)
    return reports


def _import_setting(
    setting: Setting, source: Path, draft: Path, counter: TokenCounter, report: StageReport
) -> ListedConfiguration:
    writer = ConfigurationWriter(draft, ListedConfiguration(setting.name, setting.task, "full"))
    samples = sorted(_files(source, report), key=lambda item: item[1].name)
    seen: set[tuple[Split, str]] = set()
    for split, path in progress(samples, setting.name, len(samples)):
        row = _read(path, setting, report)
        if row is not None and (split, row["id"]) in seen:
            report.drop(path.name, "second_sample_of_a_paper")
        elif row is not None:
            report.kept += 1
            seen.add((split, row["id"]))
            writer.add(split, row | _count_tokens(row, setting.task, counter))
    return writer.close()


def _count_tokens(row: dict[str, Any], task: Task, count: TokenCounter) -> dict[str, int]:
    """Count the tokens of all that the task's prompt shows, and of the target."""
    shown = [row["content"], *shown_beside(row["title"], row["abstract"], task)]
    for demo in row["demonstrations"]:
        shown += [demo["content"], *shown_beside(demo["title"], demo["abstract"], task), demo["output"]]
    shown += [text for cited in row.get("citations", ()) for text in (cited["title"], cited["abstract"])]
    *tokens, target = count([*shown, row["target"]])
    return {"input_tokens": sum(tokens), "target_tokens": target}


def _files(source: Path, report: StageReport) -> Iterator[tuple[Split, Path]]:
    """Yield the files of a setting: in a folder for each split, or as a list for each says; all are of the test split if there is none."""
    listed: dict[str, Split] = {}
    for name, split in _SPLITS.items():
        names = _names(source / f"{name}.txt") if (source / f"{name}.txt").is_file() else []
        twice = [each for each in names if each in listed]
        if twice:
            raise FolderError(f"{source}: two lists of splits name {twice[0]}; correct one")
        listed |= dict.fromkeys(names, split)
    found = set()
    for name, split in _SPLITS.items():
        for path in _json_files(source / name):
            found.add(_listed_name(path, listed))
            yield split, path
    for path in _json_files(source):
        name = _listed_name(path, listed)
        found.add(name)
        if listed and not name:
            report.drop(path.name, "not_listed")
        else:
            yield listed.get(name, "test"), path
    for name in sorted(listed.keys() - found):
        report.drop(name, "missing_file")


def _listed_name(path: Path, listed: Iterable[str]) -> str:
    """Return the name by which lists call a file, "" if none does: they leave out the setting that its own name begins with."""
    # Of "1.json" and "11.json" the longest counts.
    return max(filter(path.name.endswith, listed), key=len, default="")


def _names(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split()
    except ValueError as err:
        raise FolderError(f"{path} is not a list of names in UTF-8 ({err}); get the dataset again") from err


def _json_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("*.json") if path.is_file())


def _read(path: Path, setting: Setting, report: StageReport) -> dict[str, Any] | None:
    try:
        data = parse_json(read_packed(path))
        record, others = (data[0], data[1:]) if isinstance(data, list) else (data, [])
        row = _row(record, others, setting)
    except OSError as err:
        # A failing disk says nothing about the sample.
        raise FolderError(f"{path} cannot be read: {err.strerror or err}") from err
    except (*ERRORS, *ODD):
        report.drop(path.name, "bad_record")
        return None
    for origin, minimum in (("random", setting.random), ("co-author", setting.co_author)):
        if sum(demonstration["kind"] == origin for demonstration in row["demonstrations"]) < minimum:
            report.drop(path.name, f"too_few_{origin.replace('-', '_')}_demonstrations")
            return None
    return row


def _row(record: dict[str, Any], others: Sequence[dict[str, Any]], setting: Setting) -> dict[str, Any]:
    paper, target, content = _paper(record), _text(record, "gt"), _text(record, "main_content")
    if not target.strip() or not content.strip():
        raise ValueError("a sample without target or content")
    if setting.task == "title":
        # The reference removes the title when it evaluates.
        content = content.replace(paper.title, "")
    citations = [
        {
            "id": _id(entry["url"]) if "url" in entry else "",
            "license": PUBLIC_DOMAIN,
            "authors": (),
            "title": _text(entry, "title"),
            "abstract": _text(entry, "abstract"),
        }
        for entry in others
        if entry.get("label") == "Related Work"
    ]
    demonstrations = list(_demonstrations(record, paper, setting))
    return {**row_of(paper, content, target, demonstrations, citations), "round": ROUND}


def _demonstrations(record: dict[str, Any], target: Paper, setting: Setting) -> Iterator[dict[str, Any]]:
    random = [entry[0] if isinstance(entry, list) else entry for entry in record.get("additional_info", ())]
    nodes = (record.get("additional_graph_info") or {}).get("node_feat", {})
    authors = [entry for papers in nodes.values() for entry in papers if entry["url"] != record["url"]]
    origins: tuple[tuple[DemoOrigin, list[dict[str, Any]], int, str], ...] = (
        ("random", random, setting.random, "gt"),
        ("co-author", authors, setting.co_author, _OUTPUT[setting.task]),
    )
    for origin, records, count, output in origins:
        for entry in records[:count]:
            paper = _paper(entry)
            if title_key(paper.title) != title_key(target.title):
                yield demonstration_of(paper, origin, _text(entry, "main_content"), _text(entry, output))


def _text(record: Mapping[str, Any], name: str) -> str:
    text = record[name]
    if not isinstance(text, str):
        raise ValueError(f"{name} is not a text")
    return text


def _paper(record: dict[str, Any]) -> Paper:
    parsed = PaperId.parse(_id(record["url"]))
    if parsed is None:
        raise ValueError(f"{record['url']!r} names no arXiv paper")
    published = day(record["published"])
    primary = record.get("primary_cat") or record.get("paper_cat") or "unknown"
    return checked_paper(
        Paper(
            id=parsed.bare,
            version=parsed.version or 1,
            title=record["title"],
            abstract=record["abstract"],
            authors=tuple(name.strip() for name in record.get("authors", "").split(",") if name.strip())
            or ("unknown",),
            categories=tuple(dict.fromkeys([primary, *record.get("cats", ())])),
            published=published,
            updated=max(published, day(record.get("updated") or record["published"])),
        )
    )


def _id(url: str) -> str:
    return url.rstrip("/").partition("/abs/")[2] or url.rstrip("/").rpartition("/")[2]
