"""What earlier releases had and this one has not: for each command, option and key a sentence that names what replaces it."""

import re

_JUDGED = "no part of this release measures the metrics; docs/limits.md says what was found"
_BEFORE_AND_AFTER = "compare scores before and after a model's cut-off: `--metadata published_after=...`, or the months of the results page"
_CORE = "no rows of older rounds are carried along; compare models within one round"

COMMANDS = {
    "audit": "use `academiceval run --only audit`",
    "build": "use `academiceval run --only build`",
    "contamination": _BEFORE_AND_AFTER,
    "crawl": "use `academiceval run --until crawl`",
    "link": "use `academiceval run --until link`",
    "link-rounds": _BEFORE_AND_AFTER,
    "live": "docs/monthly/workflow.yml has the commands of a month, each of which resumes",
    "metrics": _JUDGED,
    "publishable": "`academiceval push` writes and keeps the copy that may be published",
    "records": "`academiceval push-results` publishes results",
    "reproduce": "docs/evaluate.md has a command for each table of the papers, with the published numbers",
    "study": _JUDGED,
    "study contamination": _BEFORE_AND_AFTER,
    "study link-rounds": _BEFORE_AND_AFTER,
    "tasks-path": "use `academiceval link-tasks --print`",
    "update": "`academiceval run` updates a workspace that has an earlier round",
    "yank": "use `academiceval push FOLDER --repo ORG/NAME --replaces REVISION --note TEXT`",
}
# By option, or by command and option where others still have it.
OPTIONS = {
    "--anchors": _BEFORE_AND_AFTER,
    "--batch": "`academiceval export` writes the prompts for any vendor's batch API",
    "run --by": "`update.by` in round.toml says how an update deletes",
    "export --format": "prompts are written in one format, JSON lines of chat messages",
    "--detect": "`plan` shows what is detectable and, with --all-columns, how many input tokens would show a difference of 0.05",
    "--gpu-memory": "vLLM says when it starts whether a model and its cache fit",
    "--report-card": _JUDGED,
    "--sealed": "a seal could be opened by anyone with the papers; publish the round, or keep it",
    "report --yes": "docs/report.md says how a results page is published with `hf`",
    "--space": "docs/report.md says how a results page is published with `hf`",
}
# Keys of --metadata.
METADATA = {"core": _CORE, "batch": OPTIONS["--batch"]}
# Keys of round.toml, with their tables.
ROUND = {
    "core": _CORE,
    "extract.both": "a paper's other file is read only if that of `extract.prefer` is absent or unusable",
    "samples.ceiling_bertscore": "a round has no ceiling; `compare` shows differences between models",
}
# How the prompts of tasks begin that are gone; answers to them are passed over.
PROMPTS = ("select", "related_cited", "section")
_TASKS = {
    r"(academiceval_|^)select([_-]|$)": "Match and Walk ask what its questions were meant to",
    r"academiceval_related.*_cited$": "the judge reads what a text says of other works",
    r"^academiceval_sections$": "`academiceval_intro` and `academiceval_related` ask for a section from the rest of its paper",
}


_METRICS = re.compile(
    r"(?:names|numbers)_supported|citation_(?:precision|recall|support)|r_precision(?:_\w+)?|citations_(?:mentioned|not_given)"
)


def is_score(task_name: str, metric: str) -> bool:
    """Whether a score of an earlier release's results is passed over, because its task or its metric is gone."""
    return bool(_METRICS.fullmatch(metric) or task(task_name))


def option(name: str, command: str) -> str | None:
    """What an option of a command of an earlier release, given with its hyphens, is replaced by; None for others."""
    plain = name.replace("--no-", "--")
    return OPTIONS.get(f"{command} {plain}") or OPTIONS.get(plain)


def task(name: str) -> str | None:
    """What a task or configuration of an earlier release is replaced by; None for others."""
    return next((said for pattern, said in _TASKS.items() if re.search(pattern, name, re.IGNORECASE)), None)


def refuse_sealed(revision: object) -> None:
    """Raise a ValueError for the revision of a dataset's copy that only an earlier release opens."""
    if str(revision).endswith(".sealed"):
        raise ValueError("sealed copies are gone; take the round itself")
