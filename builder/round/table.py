"""What all tables of a TOML file share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RoundTable(BaseModel):
    """Unknown keys are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
