"""Foreign data -> typed records, checked by msgspec where it comes in; what a record has not asked for is left out.

Apart from `base.text`, so that the command line starts without msgspec.
"""

from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")
# No figure of ours comes near.
MOST = 1e12
Count = Annotated[int, msgspec.Meta(ge=0, le=int(MOST))]
Label = Annotated[int, msgspec.Meta(ge=1, le=int(MOST))]
Number = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
Rate = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
# Characters of what tables show in one line: ids, licences, categories.
LONGEST_NAME = 500
# In one line, as names are.
Name = Annotated[
    str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z")
]


def is_name(text: str) -> bool:
    """Tell whether a text can stand in a row where its readers expect a name: in one line, printable, and not too long."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def typed(type_: type[_T], value: object) -> _T:
    """Return a value as a record of a type; a ValueError if it is something else; the message names the field."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as err:
        reason, _, where = str(err).partition(" - at `$")
        field = where.rstrip("`").removeprefix(".")
        raise ValueError(f"{field}: {reason[:1].lower()}{reason[1:]}" if field else reason) from err


def present(values: Mapping[_K, _V | None]) -> dict[_K, _V]:
    """Leave out what is None or empty."""
    return {key: value for key, value in values.items() if value}


def number(value: object) -> float:
    """Return a number that is finite and not absurdly large; a ValueError if it is something else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MOST:
        raise ValueError(f"{value!r:.40} is not a finite number")
    return float(value)
