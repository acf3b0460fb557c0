"""The dataset card (README.md), rendered from the manifest alone: anyone who has a folder can render it again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from datasets import DatasetInfo, Features
from datasets.splits import SplitDict, SplitInfo
from huggingface_hub import DatasetCardData

from builder.dataset import tables
from builder.dataset.compat import add_dataset_info
from builder.errors import FolderError
from builder.families.registry import columns_of
from builder.round.allowed import allowed_by
from builder.round.source import is_open_access
from builder.round.takedowns import Erratum
from lm_eval_tasks.base.contract import SPLITS
from lm_eval_tasks.base.files import toml_beside
from lm_eval_tasks.base.manifest import ListedConfiguration, Manifest, canary
from lm_eval_tasks.base.tables import Table, markdown
from lm_eval_tasks.families import of_task

CARD = "README.md"
# A picture of results, which the card shows where it lies beside the data.
PLOT = "results.svg"
_WORDS: dict[str, Any] = toml_beside(__file__, "card.toml")
# The Hub's names of the tasks: of writing settings, and of questions.
_CATEGORIES = {True: ("text-generation", "summarization"), False: ("question-answering", "multiple-choice")}
# The first is what viewers open.
_SHOWN_SPLITS = SPLITS[::-1]


def card(manifest: Manifest, dataset: str = "academiceval", revision: str = "", errata: Sequence[Erratum] = ()) -> str:
    """Return the card's text: YAML front matter that `load_dataset` obeys, then the tables.

    Args:
        dataset: what `load_dataset` is given: a name, or ORG/NAME on the Hub.
        revision: the published name, "" for a folder on this machine.
        errata: what was found wrong with what was published there.
    """
    shown = _shown(manifest)
    first, *others = sections(manifest)
    changelog, wrong = _notices(manifest, errata)
    of_source = _WORDS["open_access" if is_open_access(manifest.source) else "others"]
    front_matter = yaml.safe_dump(_front_matter(shown, of_source), sort_keys=False, allow_unicode=True)
    words: str = _WORDS["card"]
    tables_of_sections = [_section(*section) for section in others]
    configuration = next((configuration.name for configuration in shown if configuration.samples), "Intro-28K-G")
    of_revision = f', revision="{revision}"' if revision else ""
    return words.format(
        **of_source,
        front_matter=front_matter.strip(),
        round=manifest.round,
        dataset=dataset,
        configuration=configuration,
        of_revision=of_revision,
        statistics=_section(*first),
        tables="".join(tables_of_sections),
        results=_results(manifest),
        examples=_examples(manifest),
        registered=_WORDS["registered"] if registered(manifest) else "",
        changelog=_section("Changelog", [changelog], ""),
        errata=_section("Errata", [wrong], ""),
        canary=canary(manifest.round),
        references="".join(_references(shown)),
    )


def registered(manifest: Manifest) -> list[ListedConfiguration]:
    """Return the configurations that the Hub can register as tasks: test questions with choices."""
    return [
        configuration
        for configuration in manifest.configurations
        if configuration.statistics("test").samples
        and configuration.form == "questions"
        and of_task(configuration.task).is_multiple_choice
    ]


def _references(shown: Sequence[ListedConfiguration]) -> Iterator[str]:
    """Name the papers that a dataset's tasks come from, as BibTeX."""
    if any(configuration.is_writing for configuration in shown):
        yield _WORDS["references"]["academiceval"]
    if any(configuration.task == "cloze" for configuration in shown):
        yield _WORDS["references"]["scalar"]


def _shown(manifest: Manifest) -> list[ListedConfiguration]:
    """Return what a round asked for and did not get is shown; what a publishable copy merely has in another form is not."""
    return [each for each in manifest.configurations if each.samples or not manifest.publishable]


def sections(manifest: Manifest) -> list[tuple[str, list[Table], str]]:
    """Return heading, tables, and what is to be known of them: all that a manifest says; a first table without rows says nothing."""
    shown = _shown(manifest)
    made = {
        "Statistics": [tables.statistics(shown)],
        "Lengths": [tables.lengths(shown)],
        "Core": [tables.core(manifest.core)],
        "Power": [tables.power(shown)],
        "The body's first words": [tables.leads(manifest)],
        "Labels": [tables.labels(shown)],
        "Without reading the paper": [tables.without_reading(manifest)],
        "Reading questions": [tables.reading(manifest)],
        "Kept and dropped": [tables.stages(manifest)],
        "Extraction": [tables.extraction_quality(manifest.reading)] if manifest.reading else [],
        "Citations": [tables.links(manifest.links)],
        "Audit": tables.audit_tables(manifest.audit, allowed_by(manifest)) if manifest.audit else [],
        "Licences": [tables.licenses(shown)],
    }
    about = _WORDS["about"] | {"Licences": _left_out_for_their_licence(manifest)}
    return [(heading, of_section, about.get(heading, "")) for heading, of_section in made.items()]


def _left_out_for_their_licence(manifest: Manifest) -> str:
    """Return how many papers a round did not take because of their licence; "" if it takes them all."""
    report = max(manifest.reports, key=lambda report: report.dropped.get("license", 0), default=None)
    if report is None or not (lost := report.dropped.get("license", 0)):
        return ""
    return f"Of {report.given} papers ({report.stage}), {lost} ({lost / report.given:.0%}) were left out for their licence."


def check_canary(folder: Path, manifest: Manifest) -> None:
    """Check that the card contains the line by which the dataset can be recognised in training data; a FolderError if it does not."""
    path = folder / CARD
    if not path.is_file() or canary(manifest.round) not in path.read_text(encoding="utf-8", errors="replace"):
        raise FolderError(f"{path} lacks the canary of round {manifest.round}, or is missing; build the folder again")


def _section(heading: str, shown: Sequence[Table], about: str) -> str:
    """Return a heading, a sentence about its tables, and the tables; "" if the first table has no rows."""
    if not shown or not shown[0].rows:
        return ""
    blocks = (f"## {heading}", about, *("\n".join(markdown(table)) for table in shown))
    return "".join(f"{block}\n\n" for block in blocks if block)


def _results(manifest: Manifest) -> str:
    """Show the picture of results, if there is one."""
    picture = f"![Results of models over this round, with 95 % intervals]({PLOT})"
    return f"## Results\n\n{picture}\n\n" if PLOT in manifest.other_files else ""


def _examples(manifest: Manifest) -> str:
    """Show a row of each configuration, folded."""
    example: str = _WORDS["example"]
    rows = [
        example.format(name=name, row=json.dumps(row, indent=1, ensure_ascii=False))
        for name, row in manifest.examples.items()
    ]
    return "".join((_WORDS["examples"], *rows)) if rows else ""


def _notices(manifest: Manifest, errata: Sequence[Erratum]) -> tuple[Table, Table]:
    """Return the changelog, and what was found wrong, both with the newest first."""
    changes, wrong = [], []
    for each in sorted(errata, key=lambda erratum: (erratum.date, erratum.replacement), reverse=True):
        changes.append((each.replacement, f"replaces {each.revision}: {each.reason}"))
        gone = f" (taken down: {', '.join(each.papers)})" if each.papers else ""
        wrong.append((each.revision, each.replacement, each.date, each.reason + gone))
    changes += sorted(manifest.changes.items(), reverse=True)
    return Table(("Round", "What changed"), "ll", changes), Table(("Do not use", "Use", "Since", "Why"), "llll", wrong)


def _front_matter(shown: Sequence[ListedConfiguration], of_source: Mapping[str, str]) -> dict[str, object]:
    """Return the configurations and splits without samples are left out, because `datasets` cannot load them."""
    loadable = [configuration for configuration in shown if configuration.samples]
    configs = [_data_files(configuration) for configuration in loadable]
    if configs:
        configs[0]["default"] = True
    are_writing = {configuration.is_writing for configuration in shown}
    categories = [category for writing in (True, False) if writing in are_writing for category in _CATEGORIES[writing]]
    data = DatasetCardData(
        language=["en"],
        pretty_name="AcademicEval",
        task_categories=categories,
        source_datasets=["original"],
        tags=["long-context", "live-benchmark", "arxiv:2510.17725", "arxiv:2502.13753"],
        size_categories=[_size(loadable)],
        license="other",
        license_name=of_source["license_name"],
        license_link=of_source["license_link"],
    )
    add_dataset_info(data, {configuration.name: _info(configuration) for configuration in loadable})
    return {**data.to_dict(), "configs": configs}  # type: ignore[no-untyped-call]


def _data_files(configuration: ListedConfiguration) -> dict[str, object]:
    """List the files of a configuration as `load_dataset` reads them."""
    files = [
        {"split": split, "path": [file.path for file in configuration.files(split)]}
        for split in _SHOWN_SPLITS
        if configuration.files(split)
    ]
    return {"config_name": configuration.name, "data_files": files}


def _size(shown: Sequence[ListedConfiguration]) -> str:
    """Return the Hub's class of the number of rows."""
    rows = sum(configuration.samples for configuration in shown)
    limits = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
    return next((name for limit, name in limits if rows < limit), "1M<n<10M")


def _info(configuration: ListedConfiguration) -> DatasetInfo:
    splits = SplitDict(dataset_name="academiceval")
    for split in _SHOWN_SPLITS:
        if files := configuration.files(split):
            splits.add(SplitInfo(split, sum(file.nbytes for file in files), sum(file.rows for file in files)))
    return DatasetInfo(
        config_name=configuration.name,
        features=Features.from_arrow_schema(columns_of(configuration)),
        splits=splits,
        download_size=sum(file.bytes for file in configuration.every_file),
        dataset_size=sum(file.nbytes for file in configuration.every_file),
    )
