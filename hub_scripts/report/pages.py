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
    return jinja.get_template(template).render(**context)


def read_packaged(folder: str, name: str) -> str:
    """A text file of the package."""
    return (resources.files("hub_scripts.report") / folder / name).read_text(encoding="utf-8")
