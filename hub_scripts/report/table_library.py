"""DataTables (https://datatables.net), which sorts and filters the page's tables: as the package itables ships it."""

from __future__ import annotations

import re
from importlib import resources

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
