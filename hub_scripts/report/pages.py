"""The page templates and the files next to them in the package."""

from __future__ import annotations

import re
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from hub_scripts.errors import ReportError

# The bundle is a module, which a page opened from disk may not load: it becomes a script that leaves its class behind.
_EXPORT = re.compile(r"export\s*\{[^}]*?([\w$]+) as default[^}]*\};?")


def table_library() -> str:
    """The library as a script.

    Raises:
        ReportError: the installed release of itables has it in another form.
    """
    text = (resources.files("itables") / "html" / "dt_bundle.js").read_text(encoding="utf-8")
    script, count = _EXPORT.subn(r"window.DataTable=\1;", text)
    if count != 1:
        raise ReportError("this release of itables is not understood: pip install itables==2.9.1")
    return f"(() => {{\n{script}\n}})();\n"


def render(template: str, **context: object) -> str:
    """A page from a template, its texts escaped."""
    jinja = Environment(
        loader=PackageLoader("hub_scripts.report", "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["score"] = _score
    return jinja.get_template(template).render(**context)


def _score(value: float, form: str = "%.3f") -> str:
    """A score in three decimals; what rounds to nothing has no sign."""
    shown = form % value
    return shown if float(shown) else shown.lstrip("+-")


def read_packaged(folder: str, name: str) -> str:
    """A text file of the package."""
    return (resources.files("hub_scripts.report") / folder / name).read_text(encoding="utf-8")
