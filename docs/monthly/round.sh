#!/bin/sh
# One round: the month's new papers, the dataset folder, its audit, the Hub. A step that fails ends it with that step's
# exit code, so that nothing is pushed that was not built and audited. Started again, it goes on where it stopped.
#
#   REPO=ORG/academiceval sh round.sh [YYYY.MM]     in the folder of round.toml; its `output` is `academiceval`
set -eu
round="${1:-$(date -u +%Y.%m)}"
: "${REPO:?set REPO to the dataset repository, ORG/NAME}"
academiceval update round.toml --round "$round"
academiceval run round.toml --round "$round"
academiceval audit academiceval
academiceval push academiceval --repo "$REPO" --yes
