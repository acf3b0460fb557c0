"""What users write: round.toml, and the registries that it chooses from."""
