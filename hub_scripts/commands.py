"""The commands about the Hub and the results page: arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.core.command_line import (
    EVALUATING,
    MAKE,
    PUBLISHING,
    READ,
    amount,
    check_dataset,
    check_there,
    metadata_of,
    month,
    name,
    positive,
    repository,
)

if TYPE_CHECKING:
    from builder.round.licenses import Licenses, Shown
    from lm_eval_tasks.core.command_line import Commands
    from lm_eval_tasks.core.tables import Table

# Of who evaluated to who made the model, in the words of Every Eval Ever.
_RELATIONSHIPS = ("third_party", "first_party", "collaborative", "other")
_LICENSES = ("all", "noncommercial", "redistributable")


def register(commands: Commands) -> None:
    """Add the commands."""
    _register_records(commands)
    _register_report(commands)
    _register_reproduce(commands)
    help_ = "do a whole month: papers, round, models, results, all published; without --yes, only show the plan"
    sub = commands.add(MAKE, "live", help_, live)
    sub.add_argument("live", type=Path, metavar="live.toml")
    sub.add_argument("--round", type=month, metavar="YYYY.MM", help="default: this month")
    sub.add_argument("--max-cost", type=amount, help="instead of max_cost in live.toml")
    sub.add_argument("--yes", action="store_true", help="do it")

    help_ = "check a dataset folder and publish it on the Hub as one revision; without --yes, only show what would be uploaded"
    sub = commands.add(MAKE, "push", help_, push)
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    sub.add_argument("--repo", type=repository, required=True, metavar="ORG/NAME", help="the dataset repository")
    sub.add_argument(
        "--licenses",
        choices=_LICENSES,
        default="redistributable",
        help="which texts are uploaded; others go by id only (default: redistributable)",
    )
    help_ = "publish only hashes, every row by id, as ROUND.sealed; the same command without it publishes the texts"
    sub.add_argument("--sealed", action="store_true", help=help_)
    help_ = "what `academiceval study metrics FOLDER --output FILE` found; it goes into the folder's manifest and card"
    sub.add_argument("--report-card", type=Path, metavar="FILE", help=help_)
    sub.add_argument("--yes", action="store_true", help="do it")
    sub.add_argument("--private", action="store_true", help="if the repository is created, make it private")

    sub = commands.add(MAKE, "verify", "download a revision from the Hub and compare it with its manifest", verify)
    sub.add_argument("repo", type=repository, metavar="ORG/NAME")
    sub.add_argument("--revision", default="main", help="default: main")

    help_ = "mark a published revision as not to be used, and publish what replaces it; without --yes, only show what would change"
    sub = commands.add(PUBLISHING, "yank", help_, yank)
    sub.add_argument("repo", type=repository, metavar="ORG/NAME")
    sub.add_argument("--revision", help="default: the newest")
    sub.add_argument("--reason", required=True, help="for the errata on the card")
    sub.add_argument("--paper", action="append", default=[], metavar="ID", help="take this paper down; may be repeated")
    sub.add_argument(
        "--takedowns",
        type=Path,
        default=Path("takedowns.jsonl"),
        help="list that the papers are added to, for future rounds (default: ./takedowns.jsonl)",
    )

    sub.add_argument("--yes", action="store_true", help="do it")

    help_ = "publish results on the Hub, in lm-eval's form and as a model index; without --yes, only show what would be uploaded"
    sub = commands.add(PUBLISHING, "push-results", help_, push_results)
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="results_*.json, or folders of them")
    sub.add_argument(
        "--repo", type=repository, required=True, metavar="ORG/NAME", help="the dataset repository of results"
    )
    help_ = "propose the change of the card in a pull request, if the model is somebody else's"
    sub.add_argument("--create-pr", action="store_true", help=help_)
    sub.add_argument(
        "--card", type=repository, metavar="ORG/MODEL", help="the model whose repository should have the scores too"
    )
    help_ = "where the dataset folder that was run is published, for the leaderboards of the model with --card"
    sub.add_argument("--dataset", type=repository, metavar="ORG/NAME", help=help_)
    sub.add_argument("--subset", action="store_true", help="publish runs over a part of the samples too, as such")
    sub.add_argument("--yes", action="store_true", help="do it; without this, only show what would be uploaded")


def _register_records(commands: Commands) -> None:
    help_ = "write results as records of Every Eval Ever, a store that many frameworks share"
    sub = commands.add(PUBLISHING, "records", help_, records, shows_tables=False)
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="results_*.json, or folders of them")
    sub.add_argument("-o", "--output", type=Path, default=Path("data"), help="default: ./data, as in the store")
    sub.add_argument("--organization", type=name, required=True, help="who ran the evaluation")
    sub.add_argument(
        "--relationship",
        choices=_RELATIONSHIPS,
        default=_RELATIONSHIPS[0],
        help="the organization's relation to whoever made the model (default: third_party)",
    )


def _register_report(commands: Commands) -> None:
    sub = commands.add(READ, "report", "show results as a web site: leaderboard, plots, samples, rounds", report)
    help_ = "folders or files of results, samples and judges; dataset folders"
    sub.add_argument("results", type=Path, nargs="+", metavar="RESULTS", help=help_)
    sub.add_argument("-o", "--output", type=Path, default=Path("site"), help="the site's folder (default: ./site)")
    help_ = "show a folder's run under its own name; may be repeated. Of several runs of one model, the newest is shown"
    sub.add_argument("--label", action="append", default=[], metavar="NAME=FOLDER", help=help_)
    help_ = "up to which month a model was trained; may be repeated"
    sub.add_argument("--cutoff", action="append", default=[], metavar="MODEL=YYYY-MM", help=help_)
    help_ = "facts about models (organisation, size, licence, month, page) in a TOML file; they override the known ones"
    sub.add_argument("--models", type=Path, metavar="FILE", help=help_)
    help_ = "comma-separated models that put several rounds on one scale (default: five small open models)"
    sub.add_argument("--anchors", metavar="MODEL,...", help=help_)
    sub.add_argument(
        "--licenses",
        choices=_LICENSES,
        help="which papers' texts are shown (default: all; with --space: redistributable)",
    )
    sub.add_argument("--space", metavar="ORG/NAME", help="publish it as a static Space on the Hub, with --yes")
    sub.add_argument(
        "--yes", action="store_true", help="publish; without this, only build the page and show what would be uploaded"
    )


def _register_reproduce(commands: Commands) -> None:
    help_ = "reproduce the published tables: list the runs that they take, do them, and show our scores next to theirs"
    sub = commands.add(EVALUATING, "reproduce", help_, reproduce)
    sub.add_argument("paper", choices=("academiceval", "scalar"))
    help_ = "folder or Hub id (default: academiceval-original or scalar-original, as `academiceval import` makes them)"
    sub.add_argument("--dataset", help=help_)
    help_ = "lm-eval's model type to run the models with, such as vllm; without it nothing is run"
    sub.add_argument("--model", default="", help=help_)
    help_ = "lm-eval's key=value,... in addition to the model's name and context length"
    sub.add_argument("--model_args", default="", help=help_)
    help_ = "only this run of the tables, by its name; may be repeated"
    sub.add_argument("--only", action="append", default=[], metavar="RUN", help=help_)
    help_ = "other weights for a model of the tables; may be repeated"
    sub.add_argument("--weights", action="append", default=[], metavar="MODEL=WEIGHTS", help=help_)
    sub.add_argument("--metadata", default="{}", help="as for `academiceval eval`")
    sub.add_argument("--limit", type=positive, help="only this many samples of each task")
    sub.add_argument("--batch_size", default="1", help="lm-eval's (default: 1)")
    sub.add_argument("--device", help="lm-eval's, e.g. cuda:0 or cpu")
    sub.add_argument("--no-chat-template", action="store_true", help="send prompts without the model's chat template")
    help_ = "where to put a folder for each run, and the page (default: ./reproduced-PAPER)"
    sub.add_argument("--output", type=Path, help=help_)
    sub.add_argument("--dry-run", action="store_true", help="list runs, prompts and tokens without running anything")


# --- what the commands do


def report(arguments: Namespace) -> Iterator[str | Table]:
    """Build the site, and publish it if a Space is named."""
    labelled = (Path(label.partition("=")[2]) for label in arguments.label if "=" in label)
    check_there(*arguments.results, arguments.models, *labelled)
    from hub_scripts.report.site import Notes, labels_of
    from hub_scripts.report.site import report as build

    licenses: Licenses = arguments.licenses or ("redistributable" if arguments.space else "all")
    notes = Notes(arguments.cutoff, labels_of(arguments.label), arguments.models, arguments.anchors)
    yield from build(arguments.results, arguments.output, licenses, notes)
    if arguments.space:
        from hub_scripts.hub.space import push_site

        yield from push_site(arguments.output, arguments.space, yes=arguments.yes)


def live(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.live.config import load_live

    settings, models = load_live(arguments.live)
    from hub_scripts.live.run import live

    yield from live(
        arguments.live,
        settings,
        models,
        arguments.round,
        yes=arguments.yes,
        quiet=arguments.quiet,
        max_cost=arguments.max_cost,
    )


def reproduce(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.reproduce.run import Plan, reproduce, weights_of
    from lm_eval_tasks.evaluate.generation import Generation

    plan = Plan(
        arguments.paper,
        arguments.dataset or f"{arguments.paper}-original",
        arguments.output or Path(f"reproduced-{arguments.paper}"),
        arguments.model,
        arguments.model_args,
        tuple(arguments.only),
        weights_of(arguments.weights),
        metadata_of(arguments.metadata),
        arguments.limit,
        Generation(arguments.batch_size, arguments.device, apply_chat_template=not arguments.no_chat_template),
    )
    yield from reproduce(plan, dry_run=arguments.dry_run)


def push(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    from hub_scripts.hub.push import push

    licenses: Shown = "none" if arguments.sealed else arguments.licenses
    return push(
        arguments.folder,
        arguments.repo,
        licenses,
        yes=arguments.yes,
        private=arguments.private,
        report_card=arguments.report_card,
    )


def verify(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.hub.repo import Repo
    from hub_scripts.hub.verify import verify

    return verify(Repo(arguments.repo), arguments.revision)


def yank(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.hub.yank import yank

    return yank(
        arguments.repo, arguments.revision, arguments.reason, arguments.paper, arguments.takedowns, yes=arguments.yes
    )


def push_results(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.files)
    from hub_scripts.results.publish import push_results

    return push_results(
        arguments.files,
        arguments.repo,
        arguments.card,
        yes=arguments.yes,
        subset=arguments.subset,
        create_pr=arguments.create_pr,
        dataset=arguments.dataset,
    )


def records(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.files)
    from hub_scripts.results.every_eval_ever import write_records

    yield from write_records(arguments.files, arguments.output, arguments.organization, arguments.relationship)
