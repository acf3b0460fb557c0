"""What rounds are called on a page: of two that have one name and ask about other papers, each after the folder of its runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path

from lm_eval_tasks.base.contract import paper_of

# Folders that a section may be called after.
_MOST_NAMES = 3
# A round's name, and the revision of its dataset.
_Build = tuple[str, str]


# (round, revision of the dataset) -> its name, of rounds whose name another one has too.
RoundNames = Mapping[_Build, str]


def names_of(files: Sequence[Path]) -> RoundNames:
    """Tell rounds of one name apart whose runs asked one setting about papers of which fewer than half are the same; builds without a
    common setting belong together if they are about the same papers.

    Args:
        files: of samples.
    """
    from lm_eval_tasks.samples.sample import read_file

    by_build: dict[_Build, dict[str, Path]] = {}
    paths: dict[_Build, list[Path]] = {}
    for file in files:
        for sample in islice(read_file(file), 1):
            build = sample.row.round, sample.row.dataset_revision
            if not sample.row.dataset_revision:
                # A journal does not say which build it is over.
                continue
            by_build.setdefault(build, {}).setdefault(sample.row.name, file)
            paths.setdefault(build, []).append(file.resolve().parent)
    apart: dict[_Build, str] = {}
    for round_ in sorted({round_ for round_, _ in by_build}):
        sections = _sections({build: asked for build, asked in by_build.items() if build[0] == round_})
        folders = own_folders([[path for build in section for path in paths[build]] for section in sections])
        if len(sections) > 1:
            for section, folder in zip(sections, folders, strict=True):
                apart |= dict.fromkeys(section, f"{round_} ({folder})")
    return apart


def own_folders(sections: Sequence[Sequence[Path]]) -> list[str]:
    """Return for each section the uppermost folders that have its runs alone; its number where there are none, or another is called so."""
    names: list[str] = []
    for number, section in enumerate(sections):
        others = {
            part for i, other in enumerate(sections) if i != number for path in other for part in (path, *path.parents)
        }
        own = dict.fromkeys(folder.name for path in sorted(section) if (folder := _uppermost(path, others)))
        name = ", ".join(own) if len(own) <= _MOST_NAMES else next(iter(own))
        names.append(name if name and name not in names else f"{name or 'runs'}, {number + 1}")
    return names


def _uppermost(path: Path, others: Collection[Path]) -> Path | None:
    """Return the uppermost folder on the way to a path that has nothing of others; None if there is none."""
    return next((part for part in (*reversed(path.parents), path) if part not in others), None)


def _sections(settings: Mapping[_Build, Mapping[str, Path]]) -> list[frozenset[_Build]]:
    """Return the builds that belong together: all of them unless two asked one setting about other papers."""
    section_of = {build: frozenset([build]) for build in settings}
    has_others = False
    for first, second in combinations(settings, 2):
        shared = sorted(settings[first].keys() & settings[second].keys())
        names = (shared[0], shared[0]) if shared else (min(settings[first]), min(settings[second]))
        papers, others = (
            _papers(settings[build][name], name) for build, name in zip((first, second), names, strict=True)
        )
        if 2 * len(papers & others) >= min(len(papers), len(others)):
            both = section_of[first] | section_of[second]
            section_of |= dict.fromkeys(both, both)
        elif shared:
            has_others = True
    return list(dict.fromkeys(section_of.values())) if has_others else [frozenset(settings)]


def _papers(file: Path, name: str) -> set[str]:
    """Return the papers of a setting's rows in a file."""
    from lm_eval_tasks.samples.sample import read_file

    return {paper_of(sample.id) for sample in read_file(file) if sample.row.name == name}
