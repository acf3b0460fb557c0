"""What a manifest says, as tables: for the card, the command line and the results page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from builder.round.allowed import AuditTable
from builder.round.configurations import thousands_in
from lm_eval_tasks.base.contract import FULL, LEAD, OF_SCALAR, PAPERS_TASK, POPULARITY, SPLITS
from lm_eval_tasks.base.figures import QUANTILES, Audit, Bounds, ReadingSummary, StageCounts, Statistics
from lm_eval_tasks.base.manifest import CoreEntry, ListedConfiguration, Manifest
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families import of_task, target_of

# Why inputs of a task may be short.
_CAUSES = {
    **dict.fromkeys(
        ("title", "abs", "intro"),
        "the papers of the round are shorter than those of the benchmark's paper, or were partly read",
    ),
    "related": "few citations were resolved: raise `link.searches`, or name more metadata in `source.references`",
}


def statistics(configurations: Sequence[ListedConfiguration]) -> Table:
    """Return a row for each configuration, as in Table 2 of the AcademicEval paper."""
    head = ("Setting", "Task", "Comp. rate", "In", "Out", "Samples", "Train-Val-Test", "Test timespan")
    rows = []
    for each in configurations:
        splits = [each.statistics(split) for split in SPLITS]
        test, n = each.statistics("test"), max(1, each.samples)
        given = sum(of_split.input_tokens for of_split in splits)
        asked = sum(of_split.target_tokens for of_split in splits)
        shares = "-".join(f"{100 * of_split.samples / n:.0f}%" for of_split in splits)
        span = f"{test.first[:7]} to {test.last[:7]}" if test.samples else "no test sample"
        title = PAPERS_TASK if each.task == PAPERS_TASK else target_of(each.task).title
        # SCALAR asks for a number, not for a text.
        compression, out = (f"{given / asked:.0f}", f"{asked / n:.0f}") if asked else ("-", "-")
        samples = _of_all(each.samples, each.lacking)
        rows.append((each.name, title, compression, f"{given / n:.0f}", out, samples, shares, span))
    return Table(head, "llrrrrll", rows)


def short_of_name(manifest: Manifest) -> list[str]:
    """Return a sentence for each setting whose mean input has less than half of the tokens in its name. Made-up papers are short."""
    short = []
    for setting in manifest.configurations:
        tokens = 1000 * (thousands_in(setting.name) or 0)
        if setting.form == "full" and setting.samples and manifest.source != "sample":
            mean = sum(setting.statistics(split).input_tokens for split in SPLITS) / setting.samples
            if 2 * mean < tokens:
                short.append(
                    f"{setting.name}: inputs have {mean:.0f} tokens on average, less than half of what the name says; "
                    f"{_CAUSES[setting.task]}"
                )
    return short


def lengths(configurations: Sequence[ListedConfiguration]) -> Table:
    """Return how long the test samples are: tokens at most, for growing shares of them."""
    names = [f"{100 * share:g}%" for share in QUANTILES]
    head = ("Test split", *(f"In, {name}" for name in names), *(f"Out, {name}" for name in names))
    tests = [(configuration.name, configuration.statistics("test")) for configuration in configurations]
    rows = [
        (name, *test.input_lengths, *(test.target_lengths or [None] * len(QUANTILES)))
        for name, test in tests
        if test.input_lengths
    ]
    return Table(head, "l" + "r" * (len(head) - 1), rows)


def power(configurations: Sequence[ListedConfiguration]) -> Table:
    """Return what differences the test samples of each configuration can show."""
    rows = []
    for configuration in configurations:
        test = configuration.statistics("test")
        # Models are compared by shares of what they recall, of which a difference in bits says nothing.
        if test.detectable is not None and not of_task(configuration.task).kept:
            metric = target_of(configuration.task).measured_in
            group = "" if test.one_group is None else f"{test.one_group:.2f}"
            contents = configuration.splits["test"]
            samples = _of_all(test.samples, contents.lacking)
            rows.append((configuration.name, samples, f"{test.detectable:.3f}", metric, group))
    return Table(("Configuration", "Test samples", "Smallest difference", "Of", "One group"), "lrrlr", rows)


def _of_all(samples: int, lacking: int) -> object:
    """Return a number of samples; "24 of 50" for a copy that could not be completed with all."""
    return f"{samples} of {samples + lacking}" if lacking else samples


def _bounds(bounds: Bounds | None) -> str | None:
    return with_bounds(bounds.mean, bounds.low, bounds.high, ".3f") if bounds else None


def labels(configurations: Sequence[ListedConfiguration]) -> Table:
    """Show for SCALAR where the right candidates of the test questions are."""
    tests = [(configuration.name, configuration.statistics("test").labels) for configuration in configurations]
    positions = max((len(counts) for _, counts in tests if counts), default=0)
    head = ("Test split", *(f"Right at {position}" for position in range(positions)))
    return Table(
        head,
        "l" + "r" * (len(head) - 1),
        [(name, *counts, *[0] * (positions - len(counts))) for name, counts in tests if any(counts)],
    )


def without_reading(manifest: Manifest) -> Table:
    """Show for SCALAR how many of the test questions are answered rightly without reading the paper; of a publishable copy, of the
    whole.
    """
    tests = [(name, test) for name, test in _tests(manifest) if test.labels]
    measured = [name for name in (*OF_SCALAR, POPULARITY) if any(name in test.shortcuts for _, test in tests)]
    rows = []
    for name, test in tests:
        constant = (f"{n / test.samples:.3f}" for n in (test.labels[0], max(test.labels)))
        rows.append((name, test.samples, *constant, *(_bounds(test.shortcuts.get(shortcut)) for shortcut in measured)))
    head = ("Test split", "n", "Always the first", "Best constant answer", *measured)
    return Table(head, "l" + "r" * (len(head) - 1), rows)


def leads(manifest: Manifest) -> Table:
    """Show for writing settings what the first words of the body score; of a publishable copy, those of the whole."""
    measured = [(name, test.samples, test.shortcuts.get(LEAD)) for name, test in _tests(manifest)]
    rows = [(name, samples, _bounds(bounds)) for name, samples, bounds in measured if bounds]
    return Table(("Test split", "n", "ROUGE-L, content words"), "lrr", rows)


def _tests(manifest: Manifest) -> Iterator[tuple[str, Statistics]]:
    """Yield the test split of each configuration; those of the whole round, if this is a publishable copy of it."""
    whole = (manifest.publishable.original if manifest.publishable else ()) or manifest.configurations
    return ((configuration.name, configuration.statistics("test")) for configuration in whole)


def reading(manifest: Manifest) -> Table:
    """Show for the reading families the questions of each kind, and what they yield to an answer without the context and to the
    shortcut.
    """
    rows = []
    for name, test in _tests(manifest):
        for kind, known in test.kinds.items():
            figures = (
                f"{known.labels:g} {known.answers:g} {known.empty:.2f} {known.place:.2f} {known.blind:.3f}".split()
            )
            rows.append((name, kind.replace("_", " "), known.n, *figures, _bounds(known.shortcut)))
    head = ("Test split", "Questions", "n", "To choose from", "Right", "None right", "Where", "Without the context")
    return Table((*head, "Shortcut"), "llrrrrrrr", rows)


def core(entries: Sequence[CoreEntry]) -> Table:
    """Return what every model is asked first."""
    return Table(
        ("Configuration", "Samples", "Main comparison"),
        "lrl",
        [(entry.configuration, entry.samples, "-" if entry.shortcut == FULL else entry.shortcut) for entry in entries],
    )


def stages(manifest: Manifest) -> Table:
    """Return what each stage kept and dropped, those of copies and completions last."""
    beside = (manifest.publishable.report if manifest.publishable else None, manifest.takedown, manifest.fill)
    rows = [
        (report.stage, report.given, report.kept, _dropped(report))
        for report in (*manifest.reports, *filter(None, beside))
    ]
    return Table(("Stage", "In", "Kept", "Dropped"), "lrrl", rows)


def _dropped(report: StageCounts) -> str:
    papers = [f"{reason} {n}" for reason, n in sorted(report.dropped.items())]
    values = [f"{what} {n} (of kept papers)" for what, n in sorted(report.mended.items())]
    return ", ".join(papers + values) or "none"


def extraction_quality(summary: ReadingSummary) -> Table:
    """Return how well the files were read; `builder.records.Quality` explains the figures."""
    rows: list[tuple[object, ...]] = [
        *((f"documents from {kind.upper()}", n) for kind, n in sorted(summary.documents.items())),
        *((f"mean {name.replace('_', ' ')}", value) for name, value in sorted(summary.means.items())),
    ]
    return Table(("Figure", "Value"), "lr", rows)


def links(ways: Mapping[str, int]) -> Table:
    """Return how the citations of related-work sections were resolved."""
    total = max(1, sum(ways.values()))
    rows = [(way.replace("_", " "), n, f"{100 * n / total:.1f}%") for way, n in sorted(ways.items())]
    return Table(("Resolved by", "Citations", "Share"), "lrr", rows)


def audit_tables(audit: Audit, allowed: AuditTable) -> list[Table]:
    """Return everything that an audit says: each check, what it found and what is allowed; papers of each month, and of each category."""
    rows: list[tuple[object, ...]] = []
    breaches = allowed.breaches(audit)
    for name, value in sorted(audit.shares.items()) + sorted(audit.counts.items()):
        limit = allowed.limits.get(name, 0.0)
        word = "waived" if name in allowed.waive else "breach" if name in breaches else ""
        unit = "" if name in audit.counts else " of samples"
        rows.append((name.replace("_", " "), f"{value:g}{unit}", f"{limit:g}", word))
    rows += [
        ("longest common run of words", audit.longest_run, None, None),
        ("papers by the 20 most active first authors", f"{100 * audit.active_authors:.1f}%", None, None),
    ]
    categories = sorted(audit.categories.items(), key=lambda item: (-item[1], item[0]))
    return [
        Table(("Check", "Found", "Allowed", ""), "lrrl", rows),
        Table(("Month", "Papers"), "lr", sorted(audit.months.items())),
        Table(("Category", "Papers"), "lr", categories),
    ]


def licenses(configurations: Sequence[ListedConfiguration]) -> Table:
    """Return the rows under each licence, and their share."""
    rows: Counter[str] = Counter()
    for configuration in configurations:
        for split in SPLITS:
            rows.update(configuration.statistics(split).licenses)
    shares = [(name, count, f"{count / rows.total():.1%}") for name, count in sorted(rows.items())]
    return Table(("Licence", "Rows, all settings", "Share"), "lrr", shares)


def build_tables(manifest: Manifest) -> list[Table]:
    """Return what to look at first after building a round."""
    return [
        statistics(manifest.configurations),
        *([extraction_quality(manifest.reading)] if manifest.reading else []),
        links(manifest.links),
    ]
