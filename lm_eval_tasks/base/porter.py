"""`nltk`'s Porter stemmer, which `rouge_score` uses, without the rest of nltk: that loads SciPy and scikit-learn, which takes seconds."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGES = ("nltk", "nltk.stem")


def porter_stemmer() -> Any:
    """Return a stemmer; its method `stem` takes a word."""
    found = None if "nltk" in sys.modules else find_spec("nltk")
    module = _alone(Path(found.origin).parent) if found and found.origin else None
    return (module or import_module("nltk.stem.porter")).PorterStemmer()


def _alone(folder: Path) -> ModuleType | None:
    """Import the stemmer's module with empty packages around it; None if it needs more of them than their modules."""
    for name in _PACKAGES:
        package = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    try:
        return import_module("nltk.stem.porter")
    except ImportError:
        return None
    finally:
        # Whoever imports nltk later gets all of it.
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]
