"""The stemmer alone, and nltk as a whole behind it."""

import subprocess
import sys

_ALONE = """
import sys
from lm_eval_tasks.base.porter import porter_stemmer
words = "generalizations flying dying skies news sensibly agreed ties".split()
alone = [porter_stemmer().stem(word) for word in words]
assert not {"nltk", "scipy", "sklearn"} & sys.modules.keys(), "all of nltk was loaded"
from nltk.stem import PorterStemmer
assert alone == [PorterStemmer().stem(word) for word in words]
assert [porter_stemmer().stem(word) for word in words] == alone
"""


def test_stems_are_those_of_nltk_which_is_not_loaded() -> None:
    subprocess.run([sys.executable, "-c", _ALONE], check=True)
