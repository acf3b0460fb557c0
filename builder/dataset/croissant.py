"""`croissant.json`, from the manifest: https://docs.mlcommons.org/croissant/docs/croissant-spec.html."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builder.dataset.rows import columns_of
from builder.records import SPLITS
from builder.round.source import is_open_access

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration, DataFile, Manifest

CROISSANT = "croissant.json"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "equivalentProperty": "cr:equivalentProperty",
    "samplingRate": "cr:samplingRate",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_ARXIV_PAPERS = (
    "Papers of arXiv, chosen by month, category and co-author graph; texts read from PDF and HTML by software"
)
_OPEN_ACCESS_PAPERS = (
    "Open-access articles, chosen by month, subject and co-author graph; texts read from JATS files by software"
)
_RAI = {
    "rai:dataLimitations": (
        "English papers of the categories that the round names. Extraction loses some text, formulas and tables most. The "
        "reference is one text by the authors; other texts may be as good."
    ),
    "rai:dataBiases": (
        "Fields, countries and groups are represented in proportion to what they publish there. Authors with many papers "
        "weigh more, which is why intervals are over first authors."
    ),
    "rai:dataUseCases": (
        "Measuring how well language models write parts of papers from long contexts, and resolve masked citations. Not for "
        "training, and not for judging authors or papers."
    ),
    "rai:dataReleaseMaintenancePlan": (
        "One round per month. A published revision never changes; errata and takedowns make a new one and are listed on "
        "the card."
    ),
    "rai:personalSensitiveInformation": ("Names of authors, as on the papers."),
}
_CITE = "Zhang, Feng, Han, You: AcademicEval: Live Long-Context LLM Benchmark. TMLR 10/2025."
_CITE_SCALAR = (
    " Wang et al.: SCALAR: Scientific Citation-based Live Assessment of Long-context Academic Reasoning. 2025."
)


def croissant(manifest: Manifest, address: str = "") -> str:
    """The text of `croissant.json`.

    Args:
        address: of the published files, ending in "/"; "" if they lie next to it.
    """
    shown = [configuration for configuration in manifest.configurations if configuration.samples]
    has_questions = any(configuration.form == "questions" for configuration in shown)
    is_open = is_open_access(manifest.source)
    year, month = manifest.round.split(".")
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": "AcademicEval",
        "alternateName": f"AcademicEval, round {manifest.published_as}",
        "description": f"A live long-context benchmark of academic writing, round {manifest.round}: write a paper's title, abstract, "
        "introduction or related work from the rest of the paper, or say which citation was masked.",
        "url": address.partition("/resolve/")[0] or "https://huggingface.co/datasets",
        "license": "https://creativecommons.org/licenses/"
        if is_open
        else "https://info.arxiv.org/help/license/index.html",
        "version": f"{int(year)}.{int(month)}.0",
        "datePublished": f"{year}-{month}-01",
        "citeAs": _CITE + _CITE_SCALAR * has_questions,
        "isLiveDataset": True,
        "inLanguage": "en",
        "keywords": ["long-context", "benchmark", "open access" if is_open else "arXiv", "academic writing"],
        "creator": {"@type": "sc:Organization", "name": "AcademicEval"},
        "rai:dataCollection": f"{_OPEN_ACCESS_PAPERS if is_open else _ARXIV_PAPERS}, without human review; each dropped paper has a "
        "counted reason in manifest.json.",
        **_RAI,
        "distribution": [_file(file, address) for configuration in shown for file in configuration.every_file],
        "recordSet": [record_set for configuration in shown for record_set in _record_sets(configuration)],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _file(file: DataFile, address: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": f"{address}{file.path}",
        "sha256": file.sha256,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/x-parquet",
    }


def _record_sets(configuration: Configuration) -> Iterator[dict[str, Any]]:
    """The rows of each file."""
    for split in SPLITS:
        files = configuration.files(split)
        for n, file in enumerate(files):
            name = f"{configuration.name}/{split}" + (f"/{n}" if len(files) > 1 else "")
            fields = [_field(name, column, file) for column in columns_of(configuration)]
            yield {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(record_set: str, column: pa.Field, file: DataFile) -> dict[str, Any]:
    """A column; one whose values are tables, such as demonstrations, has a field for each of their columns."""
    is_list = pa.types.is_list(column.type)
    inner = column.type.value_type if is_list else column.type
    about = {"@type": "cr:Field", "@id": f"{record_set}/{column.name}", "name": column.name} | (
        {"repeated": True} if is_list else {}
    )
    source = {"fileObject": {"@id": file.path}, "extract": {"column": column.name}}
    if not pa.types.is_struct(inner):
        return {**about, "dataType": _type(inner), "source": source}
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{about['@id']}/{field.name}",
            "name": field.name,
            "dataType": _type(field.type),
            "source": {**source, "transform": {"jsonPath": field.name}},
        }
        for field in inner
    ]
    return {**about, "subField": fields}


def _type(type_: pa.DataType) -> str:
    """Croissant's name of a type, or of a list's elements."""
    if pa.types.is_list(type_):
        return _type(type_.value_type)
    return "sc:Integer" if pa.types.is_integer(type_) else "sc:Float" if pa.types.is_floating(type_) else "sc:Text"
