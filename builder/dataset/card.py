"""The dataset card (README.md), rendered from what was built: configurations, exact sizes, statistics, what was dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import yaml
from datasets import DatasetInfo, Features
from datasets.info import DatasetInfosDict
from datasets.splits import SplitDict, SplitInfo
from huggingface_hub import DatasetCardData

from builder.dataset.write import RowWriter, SplitStatistics, SplitWriter, WrittenFile, schema
from builder.records import SPLITS, Split
from builder.report import StageReport
from builder.round.levels import Level
from builder.round.settings import Setting

_HEAD_ROWS = 2
_BIBTEX = (
    "@article{zhang2025academiceval,",
    "  title   = {AcademicEval: Live Long-Context LLM Benchmark},",
    "  author  = {Zhang, Haozhen and Feng, Tao and Han, Pengrui and You, Jiaxuan},",
    "  journal = {Transactions on Machine Learning Research},",
    "  year    = {2025}",
    "}",
)
_TASK_WORDS = {
    "title": "Title Writing",
    "abs": "Abstract Writing",
    "intro": "Introduction Writing",
    "related": "Related Work Writing",
    "cloze": "Citation Cloze",
}


@dataclass(frozen=True, slots=True)
class Built:
    """What was written for one setting; `columns` where they are not those of its task."""

    setting: Setting | Level
    files: dict[Split, list[WrittenFile]]
    statistics: dict[Split, SplitStatistics]
    columns: pa.Schema | None = None

    @property
    def samples(self) -> int:
        return sum(part.samples for part in self.statistics.values())

    @property
    def compression(self) -> float:
        """Input tokens divided by output tokens, over all splits (Table 2's Comp. Rate); 0 without samples."""
        given = sum(part.input_tokens for part in self.statistics.values())
        asked = sum(part.target_tokens for part in self.statistics.values())
        return given / asked if asked else 0.0


def render(
    round_name: str, built: Sequence[Built], reports: Sequence[StageReport], reading: Mapping[str, Any],
    links: Mapping[str, int], audited: Iterable[str], changes: Mapping[str, str],
) -> str:  # fmt: skip
    """The card's text: YAML front matter that `load_dataset` obeys, then the tables."""
    lines = [
        "---", yaml.safe_dump(_metadata(built), sort_keys=False, allow_unicode=True).strip(), "---",
        f"# AcademicEval, round {round_name}", "",
        "A live long-context benchmark: write a paper's title, abstract, introduction or related work from the rest of "
        "the paper, with demonstrations from the co-author graph. Tasks and settings follow *AcademicEval: Live "
        "Long-Context LLM Benchmark* (TMLR 10/2025).", "",
        "```python", "from datasets import load_dataset", "",
        f'load_dataset("academiceval", "{next(one.setting.name for one in built if one.samples)}")', "```", "",
        "## Statistics", "", *statistics_table(built), "",
        "Input and output lengths are means over all splits in bert-base-uncased tokens; the prompt's own words are not "
        "counted. Comp. rate is input divided by output tokens.", "",
        "## Kept and dropped", "", *_report_table(reports), "",
        *section("Extraction", reading_table(reading)),
        *section("Citations", links_table(links)),
        *section("Audit", audited),
        "## Licences", "", *_license_table(built), "",
        "Each row and each demonstration names its paper's licence; most allow use on one's own machine, not "
        "redistribution.", "",
        *section("Changelog", _changes_table(changes)),
        "## How to cite", "",
        f"Name the round ({round_name}) and the configuration beside the paper: numbers of different rounds are of "
        "different samples.", "",
        "```bibtex", *_BIBTEX, "```", "",
    ]  # fmt: skip
    return "\n".join(lines)


def close_all(
    setting: Setting | Level, writers: Mapping[Split, SplitWriter | RowWriter], columns: pa.Schema | None = None
) -> Built:
    """Finish the writers of a configuration, one for each split that it may have."""
    files = {split: writers[split].close() if split in writers else [] for split in SPLITS}
    statistics = {split: writers[split].statistics if split in writers else SplitStatistics() for split in SPLITS}
    return Built(setting, files, statistics, columns)


def split_table(built: Iterable[Built]) -> dict[str, dict[Split, dict[str, Any]]]:
    """Setting -> split -> its sums, for the manifest."""
    return {one.setting.name: {split: asdict(one.statistics[split]) for split in SPLITS} for one in built}


def section(heading: str, table: Iterable[str]) -> list[str]:
    """A heading and its table; nothing where the table has no row."""
    rows = list(table)
    return [f"## {heading}", "", *rows, ""] if len(rows) > _HEAD_ROWS else []


def file_table(built: Iterable[Built]) -> dict[str, dict[str, object]]:
    """Path -> hash, bytes and rows of every data file, for the manifest."""
    return {
        file.path: {"sha256": file.sha256, "bytes": file.bytes, "rows": file.rows}
        for one in built
        for split in SPLITS
        for file in one.files[split]
    }


def statistics_table(built: Sequence[Built]) -> Iterator[str]:
    """Markdown rows like Table 2 of the paper."""
    yield "| Setting | Task | Comp. rate | In | Out | Samples | Train-Val-Test | Test timespan |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |"
    for one in built:
        n = max(1, one.samples)
        given = sum(part.input_tokens for part in one.statistics.values()) / n
        asked = sum(part.target_tokens for part in one.statistics.values()) / n
        shares = "-".join(f"{100 * one.statistics[split].samples / n:.0f}%" for split in SPLITS)
        test = one.statistics["test"]
        span = f"{test.first[:7]} to {test.last[:7]}" if test.samples else "no test sample"
        yield (
            f"| {one.setting.name} | {_TASK_WORDS[one.setting.task]} | {one.compression:.0f} | {given:.0f} | {asked:.0f} "
            f"| {one.samples} | {shares} | {span} |"
        )


def _metadata(built: Sequence[Built]) -> dict[str, object]:
    """The front matter; settings and splits without samples are left out, for `datasets` cannot load them."""
    loadable = [one for one in built if one.samples]
    configs = [
        {
            "config_name": one.setting.name,
            "data_files": [
                {"split": split, "path": [file.path for file in one.files[split]]}
                for split in SPLITS
                if one.files[split]
            ],
        }
        for one in loadable
    ]
    data = DatasetCardData(
        language=["en"], pretty_name="AcademicEval", task_categories=["summarization", "text-generation"],
        tags=["long-context", "arxiv", "live-benchmark"], license="other",
    )  # fmt: skip
    DatasetInfosDict({one.setting.name: _info(one) for one in loadable}).to_dataset_card_data(data)
    front: dict[str, object] = data.to_dict()  # type: ignore[no-untyped-call]
    return {**front, "configs": configs}


def _columns(one: Built) -> pa.Schema:
    if one.columns is not None:
        return one.columns
    assert one.setting.task != "cloze", "SCALAR's columns are given"
    return schema(one.setting.task)


def _info(one: Built) -> DatasetInfo:
    splits = SplitDict(dataset_name="academiceval")
    for split in SPLITS:
        files = one.files[split]
        if not files:
            continue
        splits.add(SplitInfo(split, sum(f.nbytes for f in files), sum(f.rows for f in files)))
    every = [file for split in SPLITS for file in one.files[split]]
    return DatasetInfo(
        config_name=one.setting.name,
        features=Features.from_arrow_schema(_columns(one)),
        splits=splits,
        download_size=sum(file.bytes for file in every),
        dataset_size=sum(file.nbytes for file in every),
    )


def _report_table(reports: Sequence[StageReport]) -> Iterator[str]:
    yield "| Stage | In | Kept | Dropped |"
    yield "| --- | ---: | ---: | --- |"
    for report in reports:
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(report.dropped.items())) or "none"
        yield f"| {report.stage} | {report.total} | {report.kept} | {reasons} |"


def reading_table(reading: Mapping[str, Any]) -> Iterator[str]:
    """How well the files were read; `builder.records.Quality` explains the figures."""
    yield "| Figure | Value |"
    yield "| --- | ---: |"
    for kind, n in reading["documents"].items():
        yield f"| documents from {kind.upper()} | {n} |"
    for name, value in reading["means"].items():
        yield f"| mean {name.replace('_', ' ')} | {value} |"
    if reading["html_pdf_papers"]:
        yield f"| agreement of HTML and PDF ({reading['html_pdf_papers']} papers) | {reading['html_pdf_agreement']} |"


def _changes_table(changes: Mapping[str, str]) -> Iterator[str]:
    yield "| Round | What changed |"
    yield "| --- | --- |"
    for name, text in sorted(changes.items(), reverse=True):
        yield f"| {name} | {' '.join(text.split())} |"


def links_table(links: Mapping[str, int]) -> Iterator[str]:
    """How the citations of related-work sections were resolved."""
    total = max(1, sum(links.values()))
    yield "| Resolved by | Citations | Share |"
    yield "| --- | ---: | ---: |"
    for way, n in links.items():
        yield f"| {way.replace('_', ' ')} | {n} | {100 * n / total:.1f}% |"


def _license_table(built: Sequence[Built]) -> Iterator[str]:
    rows: Counter[str] = Counter()
    for one in built:
        for part in one.statistics.values():
            rows.update(part.licenses)
    yield "| Licence | Rows, all settings |"
    yield "| --- | ---: |"
    for name, n in sorted(rows.items()):
        yield f"| {name} | {n} |"
