"""One sentence about the first mistake in a TOML file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lm_eval_tasks.core.errors import TomlError
from lm_eval_tasks.core.toml_file import read_toml

_SOURCES = {
    "oneOf": [],
    "discriminator": {
        "propertyName": "kind",
        "mapping": {"arxiv": "#/$defs/Arxiv", "mirror": "#/$defs/Mirror"},
    },
}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "examples": ["abc"]},
        "count": {"anyOf": [{"type": "integer", "minimum": 2, "maximum": 9}, {"type": "null"}]},
        "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "since": {"type": "string", "format": "date"},
        "place": {"type": "string", "format": "path"},
        "on": {"type": "boolean"},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["alpha", "beta"]}, "minItems": 1},
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
        "source": _SOURCES,
    },
    "$defs": {
        "Arxiv": {
            "type": "object", "additionalProperties": False, "required": ["kind"],
            "properties": {"kind": {"const": "arxiv"}, "delay": {"type": "number", "minimum": 3}},
        },
        "Mirror": {
            "type": "object", "additionalProperties": False, "required": ["kind", "path"],
            "properties": {"kind": {"const": "mirror"}, "path": {"type": "string", "format": "path"}},
        },
    },
}  # fmt: skip


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    (tmp_path / "a.schema.json").write_text(json.dumps(_SCHEMA))
    return tmp_path / "a.schema.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the key `name` is missing"),
        ("nmae = 'a'\ncount = 'b'\n", "unknown key `nmae`; did you mean `name`?"),
        ("name = 'a'\nx = 1\n", "unknown key `x`; there are name, count"),
        ("name = 'A'\n", "`name`: 'A' is not a value, such as abc"),
        ("name = 'a'\ncount = 1\n", "`count`: 1 is not a whole number from 2 to 9"),
        ("name = 'a'\ncount = '5'\n", "`count`: '5' is not a whole number"),
        ("name = 5\n", '`name`: 5 is not a value, such as abc; put it in quotes: "5"'),
        ("name = 'a'\nsource = {kind = 'arxive', delay = 3}\n", "`source.kind` cannot be 'arxive'"),
        ("name = 'a'\ncount = true\n", "`count`: True is not a whole number"),
        ("name = 'a'\ncount = 2.5\n", "`count`: 2.5 is not a whole number"),
        ("name = 'a'\nshare = 1\n", "`share`: 1 is not a number above 0 and below 1"),
        ("name = 'a'\nshare = nan\n", "`share`: nan is not a number"),
        ("name = 'a'\nshare = inf\n", "`share`: inf is not a number"),
        ("name = 'a'\nsince = '2026-02-30'\n", "`since`: '2026-02-30' is not a day such as 2026-06-30"),
        ("name = 'a'\nsince = 2026-02-03T10:00:00\n", "is not a day"),
        ("name = 'a'\nplace = 5\n", "`place`: 5 is not a path"),
        ('name = "a"\nplace = "a\\u0000b"\n', "is not a path"),
        ("name = 'a'\non = 1\n", "`on`: 1 is not true or false"),
        ("name = 'a'\nkinds = ['alpha', 'bata']\n", "`kinds[1]` cannot be 'bata'; did you mean 'beta'?"),
        ("name = 'a'\nkinds = 'alpha'\n", "`kinds`: 'alpha' is not a list"),
        ("name = 'a'\nkinds = []\n", "`kinds`: an empty list is not a list with something in it"),
        ("name = 'a'\nnotes = {a = 1}\n", "`notes.a`: 1 is not a text"),
        ("name = 'a'\nnotes = [1]\n", "`notes`: a list is not a table"),
        ("name = 'a'\nsource = 1\n", "`source`: 1 is not a table"),
        ("name = 'a'\n[source]\n", "the key `source.kind` is missing"),
        ("name = 'a'\n[source]\nkind = 'arxive'\n", "`source.kind` cannot be 'arxive'; did you mean 'arxiv'?"),
        ("name = 'a'\n[source]\nkind = ['arxiv']\n", "`source.kind` cannot be a list"),
        ("name = 'a'\n[source]\nkind = 'mirror'\n", "the key `source.path` is missing"),
        ("name = 'a'\n[source]\nkind = 'arxiv'\ndelay = 1\n", "`source.delay`: 1 is not a number of at least 3"),
        ("name = 'a'\nname = 'b'\n", "is not valid TOML"),
    ],
)
def test_mistakes(text: str, says: str, schema: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text)
    with pytest.raises(TomlError) as caught:
        read_toml(file, schema)
    assert str(caught.value).startswith(str(file))
    assert says in str(caught.value)


def test_what_is_allowed(schema: Path, tmp_path: Path) -> None:
    text = "\ufeffname = 'a'\r\ncount = 2\nshare = 0.5\nsince = 2026-01-01\nkinds = ['beta']\n[notes]\nz = 'y'\n[source]\nkind = 'arxiv'\n"
    file = tmp_path / "a.toml"
    file.write_text(text, encoding="utf-8")
    assert read_toml(file, schema, name="b")["name"] == "b"
    assert read_toml(file, schema)["source"] == {"kind": "arxiv"}


def test_files_that_cannot_be_read(schema: Path, tmp_path: Path) -> None:
    with pytest.raises(TomlError, match=r"cannot read .*gone\.toml"):
        read_toml(tmp_path / "gone.toml", schema)
    with pytest.raises(TomlError, match="Is a directory"):
        read_toml(tmp_path, schema)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TomlError, match="is not valid TOML"):
        read_toml(tmp_path / "b.toml", schema)
