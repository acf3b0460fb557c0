"""Whether code has changed since a commit."""

import ast
import subprocess

from benchmarks.shared.running import ROOT

# Sentences alone: no figure depends on them.
_WORDING = frozenset({"builder/dataset/card.toml"})
_WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_differs(commit: str, paths: list[str]) -> bool:
    """Tell whether files below some paths do now what they did not do at a commit, or git does not know it. Of Python, docstrings, comments
    and layout do nothing.
    """
    try:
        changed = _git("diff", "--name-only", "--no-renames", commit, "--", *paths).splitlines()
        return any(
            _code(file, _git("show", f"{commit}:{file}")) != _code(file, (ROOT / file).read_text(encoding="utf-8"))
            for file in changed
            if file not in _WORDING
        )
    except (subprocess.CalledProcessError, OSError):
        # A file that is new, or is gone.
        return True


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _code(file: str, text: str) -> str:
    if not file.endswith(".py"):
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
