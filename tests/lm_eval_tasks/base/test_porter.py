"""The stemmer alone; that it is nltk's, tests/lm_eval_tasks/metrics/test_rouge.py sees in its numbers."""

import subprocess
import sys

_ALONE = """
import sys
from lm_eval_tasks.base.porter import porter_stemmer
words = "generalizations flying dying skies news sensibly plotted ties".split()
assert [porter_stemmer().stem(word) for word in words] == "gener fli die sky news sensibl plot tie".split()
assert not {"nltk", "scipy", "sklearn"} & sys.modules.keys(), "all of nltk was loaded"
"""


def test_stems_are_known_without_loading_all_of_nltk() -> None:
    subprocess.run([sys.executable, "-c", _ALONE], check=True)
