"""The dataset card (README.md), rendered from the manifest alone: anyone who has a folder can render it again."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

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
from lm_eval_tasks.base.manifest import ListedConfiguration, Manifest, canary
from lm_eval_tasks.base.tables import Table, markdown
from lm_eval_tasks.families import of_task

CARD = "README.md"
# A picture of results, which the card shows where it lies beside the data.
PLOT = "results.svg"
_ACADEMICEVAL = """\
@article{zhang2025academiceval,
  title   = {AcademicEval: Live Long-Context LLM Benchmark},
  author  = {Zhang, Haozhen and Feng, Tao and Han, Pengrui and You, Jiaxuan},
  journal = {Transactions on Machine Learning Research},
  year    = {2025}
}"""
_SCALAR = """\
@article{wang2025scalar,
  title  = {SCALAR: Scientific Citation-based Live Assessment of Long-context Academic Reasoning},
  author = {Wang, Renxi and Mu, Honglin and Ma, Liqun and Lin, Lizhi and Feng, Yunlong and Baldwin, Timothy and Han, Xudong and Li, Haonan},
  year   = {2025}
}"""

# Heading of a section -> what is to be known of its tables.
_ABOUT = {
    "Lengths": "Percentiles of the lengths in the test split, in tokens; 100% is the longest.",
    "Power": (
        "The smallest difference between two models that the test samples show in four out of five cases, if no other difference is "
        "tested, and the models' differences vary from paper to paper as those of two baselines do on real papers; for questions, if "
        "they disagree on three in ten. It assumes that a model does equally well on all samples of a first "
        "author; if not, smaller differences show too. One group: the share of the samples by authors who are all connected as "
        "co-authors among these papers. Where it is high, results say little about other groups' papers."
    ),
    "Core": (
        "What every model is asked first, and boards count (`academiceval_core`). A model's gain is its score minus its own score with "
        "less to read, over the same samples; the last column names the shorter context of the main comparison."
    ),
    "Labels": "How often each position holds the right candidate.",
    "Without reading the paper": (
        "The accuracy of always naming the same position, and of the candidate that fits the sentence with the mask best, by BM25 "
        "(bm25-local), with the names before the mask (name-local) or by embeddings of a small model (embed-local), or that most papers "
        "of the round cite (popularity), with 95 % intervals. Guessing scores 0.25. Only what a model scores above all of these shows "
        "that it read the paper."
    ),
    "The body's first words": (
        "The first words of the body as the answer, as many as the median target of the train split has, with 95 % intervals. Only what "
        "a model scores above this shows that it read on."
    ),
    "Reading questions": (
        "Questions over many papers at once. What an answer scores that is the same whatever the context says, and what a program scores "
        "that does not read: a search for the titles in the papers' texts (Walk), BM25 between passages (Next), for titles and abstracts "
        "(Match); by the metric that models are ranked by. Right answers stand at 0.5 of a context on average if their place tells "
        "nothing. Contexts that share papers count as one for intervals; with fewer than twelve there is none."
    ),
}
# The Hub's names of the tasks: of writing settings, and of questions.
_CATEGORIES = {True: ("text-generation", "summarization"), False: ("question-answering", "multiple-choice")}
# The first is what viewers open.
_SHOWN_SPLITS = SPLITS[::-1]


# What may be done with the texts, and what they are, of articles with open access and of others.
_USE = {
    True: (
        "Whose texts these are: each row names the authors, title, licence and id of its paper, and of every other paper that it shows; "
        "an id that begins with `10.` is a DOI, whose page is `https://doi.org/` followed by it. Changes: texts were cut into sections, "
        "and figures, tables, displayed formulas, footnotes and supplements were left out."
    ),
    False: "Each row and each demonstration names its paper's licence, which says what may be done with its text.",
}
_REGISTERED = (
    "Of these tasks the Hub registers SCALAR's (`eval.yaml`), whose questions are plain columns with choices. The others put their "
    "prompts together from several rows, or have scores that the Hub's format cannot name; `lm_eval` and `academiceval eval` ask them all.",
    "",
)
_TEXTS = {
    True: (
        "Texts are read from the articles' structured files (JATS), without figures, tables and displayed formulas. Few articles of the "
        "life sciences have a section of related work, so that these configurations are small or empty."
    ),
    False: "Texts are read from PDF and HTML by software and lose parts of formulas and tables.",
}


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
    name = next((configuration.name for configuration in shown if configuration.samples), "Intro-28K-G")
    of_revision = f', revision="{revision}"' if revision else ""
    front_matter = yaml.safe_dump(_front_matter(shown, manifest.source), sort_keys=False, allow_unicode=True)
    tables = [line for section in others for line in _section(*section)]
    lines = [
        "---",
        front_matter.strip(),
        "---",
        f"# AcademicEval, round {manifest.round}",
        "",
        "A live long-context benchmark: write a paper's title, abstract, introduction or related work from the rest of the paper, with "
        "demonstrations from the co-author graph. Tasks and settings follow *AcademicEval: Live "
        "Long-Context LLM Benchmark* (TMLR 10/2025).",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'load_dataset("{dataset}", "{name}"{of_revision})',
        "```",
        "",
        *_section(*first),
        "Input and output lengths are means over all splits in bert-base-uncased tokens; the prompt's own words are not "
        "counted. Comp. rate is input divided by output tokens.",
        "",
        *tables,
        *_plot(manifest),
        *_examples(manifest),
        _USE[is_open_access(manifest.source)],
        "",
        *(_REGISTERED if registered(manifest) else ()),
        *_section("Changelog", [changelog], ""),
        *_section("Errata", [wrong], ""),
        "## Limitations",
        "",
        f"{_TEXTS[is_open_access(manifest.source)]} The reference is one text by the authors; "
        "another may be as good. Fields and groups are represented in proportion to what they publish there. Please do not train on "
        "these texts. Canary string: "
        f"`{canary(manifest.round)}`.",
        "",
        "## Wrong questions",
        "",
        "Open a discussion on this page with the row's `id` and what is wrong with it. The next revision leaves it out, and its "
        "manifest says why.",
        "",
        "## Takedowns",
        "",
        "An author who wants a paper removed can open a discussion on this page with its id; the text is removed in a new "
        "revision, and the id is kept on a list for all later rounds.",
        "",
        "## How to cite",
        "",
        f"Name the round ({manifest.round}) and the configuration along with the paper: numbers of different rounds "
        "are of different samples.",
        "",
        "```bibtex",
        *_references(shown),
        "```",
        "",
    ]
    return "\n".join(lines)


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
        yield _ACADEMICEVAL
    if any(configuration.task == "cloze" for configuration in shown):
        yield _SCALAR


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
    about = _ABOUT | {"Licences": _left_out_for_their_licence(manifest)}
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


def _section(heading: str, shown: Sequence[Table], about: str) -> list[str]:
    """Return a heading, a sentence about its tables, and the tables; nothing if the first table has no rows."""
    if not shown or not shown[0].rows:
        return []
    return [
        f"## {heading}",
        "",
        *([about, ""] if about else []),
        *(line for table in shown for line in (*markdown(table), "")),
    ]


def _plot(manifest: Manifest) -> Iterator[str]:
    """Show the picture of results, if there is one."""
    if PLOT in manifest.other_files:
        yield from ("## Results", "", f"![Results of models over this round, with 95 % intervals]({PLOT})", "")


def _examples(manifest: Manifest) -> Iterator[str]:
    """Show a row of each configuration, folded."""
    if not manifest.examples:
        return
    yield from ("## Examples", "", "The first row of each configuration, with its long texts cut.", "")
    for name, row in manifest.examples.items():
        yield from ("<details>", f"<summary>{name}</summary>", "", "```json")
        yield from (json.dumps(row, indent=1, ensure_ascii=False), "```", "", "</details>", "")


def _notices(manifest: Manifest, errata: Sequence[Erratum]) -> tuple[Table, Table]:
    """Return the changelog, and what was found wrong, both with the newest first."""
    changes, wrong = [], []
    for each in sorted(errata, key=lambda erratum: (erratum.date, erratum.replacement), reverse=True):
        changes.append((each.replacement, f"replaces {each.revision}: {each.reason}"))
        gone = f" (taken down: {', '.join(each.papers)})" if each.papers else ""
        wrong.append((each.revision, each.replacement, each.date, each.reason + gone))
    changes += sorted(manifest.changes.items(), reverse=True)
    return Table(("Round", "What changed"), "ll", changes), Table(("Do not use", "Use", "Since", "Why"), "llll", wrong)


def _front_matter(shown: Sequence[ListedConfiguration], source: str) -> dict[str, object]:
    """Return the configurations and splits without samples are left out, because `datasets` cannot load them."""
    loadable = [configuration for configuration in shown if configuration.samples]
    configs = [_data_files(configuration) for configuration in loadable]
    if configs:
        configs[0]["default"] = True
    are_writing = {configuration.is_writing for configuration in shown}
    name, link = (
        ("per-paper", "https://creativecommons.org/licenses/")
        if is_open_access(source)
        else ("arxiv-per-paper", "https://info.arxiv.org/help/license/index.html")
    )
    categories = [category for writing in (True, False) if writing in are_writing for category in _CATEGORIES[writing]]
    data = DatasetCardData(
        language=["en"],
        pretty_name="AcademicEval",
        task_categories=categories,
        source_datasets=["original"],
        tags=["long-context", "live-benchmark", "arxiv:2510.17725", "arxiv:2502.13753"],
        size_categories=[_size(loadable)],
        license="other",
        license_name=name,
        license_link=link,
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
