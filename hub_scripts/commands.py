"""The commands about the Hub and the results page: arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from hub_scripts.errors import HubError
from lm_eval_tasks.base.command_line import (
    EVALUATE,
    MAKE,
    PUBLISHING,
    READ,
    Commands,
    add_jobs,
    check_dataset,
    check_there,
    repository,
)
from lm_eval_tasks.base.tables import Table

_LICENSES = ("all", "noncommercial", "redistributable", "none")


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(EVALUATE, "demo", "a full round and an evaluation on a made-up arXiv, offline", demo)
    sub.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: ./demo)")
    add_jobs(sub)
    _register_report(commands)
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
    help_ = "publish the folder in place of this revision, without papers that were taken down"
    sub.add_argument("--replaces", default="", metavar="REVISION", help=help_)
    sub.add_argument("--note", default="", metavar="TEXT", help="with --replaces: what was wrong, for the card")
    help_ = "a plot of results for the card, such as kept_2026.11.svg of `report`"
    sub.add_argument("--plot", type=Path, metavar="FILE.svg", help=help_)
    sub.add_argument("--yes", action="store_true", help="do it")
    sub.add_argument("--private", action="store_true", help="if the repository is created, make it private")

    sub = commands.add(MAKE, "verify", "download a revision from the Hub and compare it with its manifest", verify)
    sub.add_argument("repo", type=repository, metavar="ORG/NAME")
    sub.add_argument("--revision", default="main", help="default: main")

    help_ = "publish results on the Hub, in lm-eval's form; without --yes, only show what would be uploaded"
    sub = commands.add(PUBLISHING, "push-results", help_, push_results)
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="results_*.json, or folders of them")
    sub.add_argument(
        "--repo", type=repository, required=True, metavar="ORG/NAME", help="the dataset repository of results"
    )
    help_ = "the model whose repository also gets its SCALAR scores, for the Hub's leaderboards"
    sub.add_argument("--card", type=repository, metavar="ORG/MODEL", help=help_)
    help_ = "propose that in a pull request, if the model is somebody else's"
    sub.add_argument("--create-pr", action="store_true", help=help_)
    help_ = "where the dataset folder that was run is published, for --card"
    sub.add_argument("--dataset", type=repository, metavar="ORG/NAME", help=help_)
    sub.add_argument("--subset", action="store_true", help="also publish partial runs, marked as such")
    sub.add_argument("--yes", action="store_true", help="do it; without this, only show what would be uploaded")


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
    help_ = "which papers' texts are shown (default: all; give redistributable for a page that others see)"
    sub.add_argument("--licenses", choices=_LICENSES, default="all", help=help_)


# --- what the commands do


def demo(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.demo import demo

    yield from demo(arguments.folder, arguments.jobs)


def report(arguments: Namespace) -> Iterator[str | Table]:
    labelled = (Path(label.partition("=")[2]) for label in arguments.label if "=" in label)
    check_there(*arguments.results, arguments.models, *labelled)
    from hub_scripts.report.site import report

    yield from report(
        arguments.results, arguments.output, arguments.licenses, arguments.cutoff, arguments.label, arguments.models
    )


def push(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    check_there(arguments.plot)
    from hub_scripts.hub.notices import Replaced
    from hub_scripts.hub.push import HowToPush, push

    if arguments.note and not arguments.replaces:
        raise HubError("--note says what was wrong with a revision: name that with --replaces, or leave --note out")
    replaces = Replaced(arguments.replaces, arguments.note) if arguments.replaces else None
    how = HowToPush(yes=arguments.yes, private=arguments.private, plot=arguments.plot)
    return push(arguments.folder, arguments.repo, arguments.licenses, how, replaces=replaces)


def verify(arguments: Namespace) -> Iterator[str | Table]:
    from hub_scripts.hub.checks import verify
    from hub_scripts.hub.repo import Repo

    return verify(Repo(arguments.repo), arguments.revision)


def push_results(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.files)
    from hub_scripts.results.publish import ModelCard, push_results

    if not arguments.card and (arguments.create_pr or arguments.dataset):
        raise HubError("--create-pr and --dataset are about a model's repository: name it with --card")
    card = ModelCard(arguments.card, arguments.dataset, arguments.create_pr) if arguments.card else None
    return push_results(arguments.files, arguments.repo, card, yes=arguments.yes, subset=arguments.subset)
