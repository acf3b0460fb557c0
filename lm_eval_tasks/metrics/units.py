"""The units behind numbers, as far as papers use them often: their spellings, and what they are of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Dimension -> unit -> how much of the smallest it is, and its spellings. "m", "k" and "b" are also millions and the like.
_DIMENSIONS: dict[str, dict[str, tuple[float, str]]] = {
    "time": {
        "ms": (1e-3, "ms msec millisecond milliseconds"),
        "s": (1, "s sec secs second seconds"),
        "min": (60, "min mins minute minutes"),
        "h": (3600, "h hr hrs hour hours"),
        "day": (86_400, "day days"),
        "week": (604_800, "week weeks"),
    },
    "months": {"month": (1, "month months"), "year": (12, "year years")},
    "data": {
        "KB": (1e3, "KB kB KiB"),
        "MB": (1e6, "MB MiB megabytes"),
        "GB": (1e9, "GB GiB gigabytes"),
        "TB": (1e12, "TB TiB terabytes"),
    },
    "length": {
        "nm": (1e-9, "nm"),
        "µm": (1e-6, "µm μm um"),
        "mm": (1e-3, "mm"),
        "cm": (1e-2, "cm"),
        "km": (1e3, "km kilometres kilometers"),
    },
    "mass": {"mg": (1e-3, "mg"), "g": (1, "g"), "kg": (1e3, "kg")},
    "frequency": {"Hz": (1, "Hz hertz"), "kHz": (1e3, "kHz"), "MHz": (1e6, "MHz"), "GHz": (1e9, "GHz")},
    "power": {"W": (1, "W watts"), "kW": (1e3, "kW"), "MW": (1e6, "MW")},
    "factor": {"x": (1, "x × fold")},
    "temperature": {"°C": (1, "°C")},
}
_UNITS = {
    spelling: unit
    for units in _DIMENSIONS.values()
    for unit, (_, spellings) in units.items()
    for spelling in spellings.split()
}
_UNIT = re.compile(rf"\s?-?({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?![\w-])")


def unit_at(text: str, place: int) -> str:
    """The unit that begins at a place, one name for all its spellings; "" if there is none that we know."""
    match = _UNIT.match(text, place)
    return _UNITS[match[1]] if match else ""


def conversions(unit: str) -> Iterator[tuple[str, float]]:
    """The other units of a unit's dimension, and by what a number is multiplied for them."""
    for units in _DIMENSIONS.values():
        if unit in units:
            yield from ((other, units[unit][0] / size) for other, (size, _) in units.items() if other != unit)
