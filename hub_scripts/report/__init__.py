"""Results, verdicts and manifests -> a static site for people who look rather than read."""
