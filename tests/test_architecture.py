"""The house: imports run one way, rooms do not import each other, and few rooms open connections (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from lm_eval_tasks.families import NAMES
from standins.places import table_beside

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("builder", "lm_eval_tasks", "hub_scripts")

# From the ground up: a room imports from itself and from what stands before it.
ROOMS = table_beside(__file__, "rooms.json")
# What the builder takes from the package that every installation has.
SHARED = "base families families.* llm engines"
# Only these assemble the packages' commands, or show all of them at work.
ASSEMBLING = {"builder.cli", "hub_scripts.demo", "hub_scripts.entry"}
# Modules that can open a connection, or are slow to open -> the rooms that may import them.
CONNECTING = table_beside(__file__, "connecting.json")
# Packages that only the builder's installation has.
OF_THE_BUILDER = {"arxiv", "datasketch", "httpx2", "lxml", "networkx", "pydantic", "pymupdf"}
LONGEST_CHAIN = 10


@dataclass(frozen=True)
class Import:
    """One import of one module; `early` where it is carried out when the module is loaded."""

    module: str
    name: str
    early: bool


def _imports(tree: ast.AST, early: bool = True) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(one.name, "", early) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "imports are absolute"
            yield from (Import(node.module, one.name, early) for one in node.names)
        checking = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _imports(node, early and not checking and not inner)


# Module -> `name.attribute` as it stands in it.
_USED: dict[str, set[str]] = {}


def _attributes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


@cache
def modules() -> dict[str, list[Import]]:
    """Our modules and all that they import."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[name] = list(_imports(tree))
            _USED[name] = set(_attributes(tree))
    return found


def graph(*, early: bool) -> dict[str, set[str]]:
    """Our modules and those of ours that they import; with `early`, when they are loaded."""
    known = modules()

    def ours(one: Import) -> str | None:
        return next((name for name in (f"{one.module}.{one.name}", one.module) if name in known), None)

    return {
        name: {target for one in imports if (one.early or not early) and (target := ours(one)) and target != name}
        for name, imports in known.items()
    }


# What descriptors are made of; everything else in a family's folder is read when its tasks are used.
DESCRIBING = {
    "descriptor",
    "compressors",
    "settings",
    "refine",
    "writing_row",
    "reading_row",
    "recall_row",
    "scalar_row",
    "registry",
    "rounds",
}


def room(name: str) -> str:
    """A module's room. Descriptors of families lie below what reads them, and that lies below what the families do."""
    package, first, *rest = (*name.split("."), "")[:4] if "." in name else (name, "")
    if (package, first) == ("lm_eval_tasks", "families") and not (set(rest) - {""} <= {*NAMES, *DESCRIBING, "reading"}):
        return f"{package}.families.*"
    return ".".join(name.split(".")[:2])


@pytest.mark.slow
def test_no_module_imports_itself_by_a_way_round() -> None:
    edges = graph(early=False)
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for other in sorted(edges[name]):
                walk(other, (*path, name))
            done.add(name)

    for name in sorted(edges):
        walk(name, ())


def test_imports_run_one_way_through_the_rooms() -> None:
    height = {
        f"{package}.{name}": level
        for package, levels in ROOMS.items()
        for level, names in enumerate(levels)
        for name in names.split()
    }
    assert {room(name) for name in modules() if "." in name} == set(height)
    wrong = [
        f"{name} imports {other}"
        for name, others in graph(early=False).items()
        for other in others
        if name.split(".")[0] == other.split(".")[0] and room(name) != room(other)
        if height[room(other)] >= height[room(name)]
    ]
    assert not wrong


def test_packages_import_one_way() -> None:
    allowed = {room(f"lm_eval_tasks.{name}") for name in SHARED.split()}
    for name, others in graph(early=False).items():
        for other in others:
            mine, theirs = name.split(".")[0], other.split(".")[0]
            if mine == theirs or mine == "hub_scripts" or name in ASSEMBLING:
                continue
            assert mine == "builder" and room(other) in allowed, f"{name} imports {other}"
        # Whoever only evaluates has not installed these.
        foreign = {one.module.partition(".")[0] for one in modules()[name]}
        assert name.startswith("builder") or not foreign & OF_THE_BUILDER, name


def test_chains_of_imports_are_short() -> None:
    """Of those that are carried out when a module is loaded; what a function imports waits until it is called."""
    edges = graph(early=True)

    @cache
    def longest(name: str) -> tuple[str, ...]:
        return (name, *max((longest(other) for other in sorted(edges[name])), key=len, default=()))

    chain = max(map(longest, edges), key=len)
    assert len(chain) <= LONGEST_CHAIN, " -> ".join(chain)


def test_only_few_rooms_open_connections_or_what_is_slow() -> None:
    for name, imports in modules().items():
        imported = {
            part for one in imports for part in (f"{one.module}.{one.name}", one.module, one.module.split(".")[0])
        }
        # A module that is imported whole, and one of its functions.
        imported |= {used for used in _USED[name] if used.split(".")[0] in imported}
        for connecting, rooms in CONNECTING.items():
            assert connecting not in imported or room(name) in rooms.split(), f"{name} uses {connecting}"
