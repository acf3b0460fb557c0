"""Results, verdicts and manifests -> a static site, to look at rather than read."""
