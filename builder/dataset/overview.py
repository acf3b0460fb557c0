"""A folder's card from its manifest, so that whatever is made from a folder can say again what is known of it."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.dataset import folder
from builder.dataset.audit import Audit, audit_table
from builder.dataset.card import Built, file_table, render, split_table
from builder.report import StageReport
from builder.round.tables import AuditTable

_NOTHING_READ: dict[str, Any] = {"documents": {}, "means": {}, "html_pdf_papers": 0}


def card(manifest: Mapping[str, Any], built: Sequence[Built], *more: StageReport) -> str:
    """The card of a folder.

    Args:
        manifest: as written, or about to be.
        built: the configurations, in the order in which they are shown.
        more: reports on top of the manifest's.
    """
    # In the order in which the file will hold it.
    facts = json.loads(json.dumps(manifest, sort_keys=True))
    audited = Audit(**facts["audit"]) if "audit" in facts else None
    table = AuditTable.model_validate(facts.get("config", {}).get("audit", {}))
    return render(
        facts["round"],
        built,
        [*(StageReport.from_dict(report) for report in facts["reports"]), *more],
        facts.get("extraction", _NOTHING_READ),
        facts.get("links", {}),
        audit_table(audited, table) if audited else (),
        facts.get("config", {}).get("changes", {}),
    )


def finish_import(
    place: Path, round_name: str, origin: str, built: Sequence[Built], reports: Sequence[StageReport]
) -> None:
    """Write the card and the manifest of a dataset that was made elsewhere.

    Args:
        origin: where it came from.
    """
    manifest = {
        "round": round_name,
        "imported": origin,
        "code_version": importlib.metadata.version("academiceval"),
        "files": file_table(built),
        "statistics": split_table(built),
        "reports": [report.to_dict() for report in reports],
    }
    (place / "README.md").write_text(card(manifest, built), encoding="utf-8")
    folder.write_manifest(place, manifest)
