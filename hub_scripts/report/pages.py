"""The page templates and the files next to them in the package."""

from __future__ import annotations

from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


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
