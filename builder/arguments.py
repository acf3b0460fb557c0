"""The arguments of `academiceval`, command by command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path

Command = Callable[[argparse.Namespace], None]
_ROUND_COMMANDS = {
    "run": "build a round: crawl, graph, extract, link, samples, dataset folder",
    "crawl": "take the round's papers into the workspace and show the co-author graph",
    "update": "take a crawled graph on to a later round: its new papers and co-authors",
    "link": "read the papers and resolve the citations of their related work; how well that went",
    "build": "write the dataset folder from what the workspace holds",
    "status": "what the workspace holds",
}


def parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser, which leaves the function of the given command in `command`."""
    top = argparse.ArgumentParser(
        prog="academiceval", description="Build, evaluate and publish rounds of AcademicEval."
    )
    subparsers = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=help_, description=help_)
        sub.set_defaults(command=commands[name])
        return sub

    for name, help_ in _ROUND_COMMANDS.items():
        _round_arguments(name, add(name, help_))
    _folder_commands(add)
    _file_commands(add)
    _evaluation_commands(add)
    _hub_commands(add)
    return top


def _round_arguments(name: str, sub: argparse.ArgumentParser) -> None:
    _add_round_file(sub)
    sub.add_argument("--round", metavar="YYYY.MM", help="build this revision instead of the file's")
    sub.add_argument("--workspace", type=Path, help="use this workspace instead of the round's")
    sub.add_argument("--output", type=Path, help="write this dataset folder instead of the round's")
    if name in ("run", "link"):
        _add_jobs(sub)
    if name in ("run", "build"):
        sub.add_argument("--replace", action="store_true", help="replace a folder of the same round")
    if name == "update":
        sub.add_argument("--by", choices=("harvest", "author"), help="whole months, or author by author")


def _folder_commands(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    sub = add("audit", "look for leaks and for what was read wrongly in a finished dataset folder")
    sub.add_argument("folder", type=Path, metavar="FOLDER")

    sub = add("publishable", "the copy of a dataset folder that may be published, other rows by id only")
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    sub.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    sub.add_argument("--licenses", choices=("noncommercial", "redistributable"), default="redistributable")

    sub = add("fill", "complete the id-only rows of a publishable copy on this machine")
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    _add_round_file(sub)
    sub.add_argument("--work", type=Path, metavar="W", help="use this workspace instead of the round's")
    sub.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: FOLDER-filled")
    _add_jobs(sub)


def _file_commands(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    sub = add("import", "the datasets of the papers as a dataset folder")
    sub.add_argument(
        "kind", choices=("academiceval", "scalar", "scalar-papers"),
        help="the reference dataset; SCALAR's published questions; new questions from SCALAR's structured papers",
    )  # fmt: skip
    sub.add_argument(
        "source", type=Path, metavar="DIR", help="the folder that holds title_10K and so on, or SCALAR's JSON files"
    )
    sub.add_argument("-o", "--output", type=Path, help="default: KIND-original")
    sub.add_argument("--seed", type=int, default=0, help="scalar-papers: of the questions (default: 0)")

    sub = add("extract", "extract PDF files to JSON lines; or, given a round.toml, the round's papers")
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE")
    sub.add_argument("-o", "--output", type=Path, help="JSON lines file, one line a file in input order")
    sub.add_argument("--time-limit", type=float, default=60.0, help="seconds a file may take (default: 60)")
    sub.add_argument("--memory-limit", type=int, default=2048, help="MiB a file may take (default: 2048)")
    _add_jobs(sub)


def _evaluation_commands(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    sub = add("demo", "a full round and an evaluation on a made-up arXiv, offline")
    sub.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: ./demo)")
    _add_jobs(sub)

    sub = add("eval", "evaluate a baseline (lead, copy-demo, random-sentence) or an lm-eval model")
    sub.add_argument("--model", required=True, help="a baseline, or a model type of lm-eval such as hf or vllm")
    sub.add_argument("--model_args", default="", help="lm-eval's key=value,...")
    sub.add_argument("--tasks", required=True, help="comma-separated task or group names; `list` prints them")
    sub.add_argument(
        "--metadata", default="{}", help='JSON, e.g. \'{"dataset": "academiceval", "bertscore_model": "none"}\''
    )
    sub.add_argument("--limit", type=int, help="only so many samples a task")
    sub.add_argument(
        "--output", type=Path, default=Path("results"), help="folder for results, samples and the journal of answers, with "
        "which the same command goes on after a kill (default: ./results)",
    )  # fmt: skip
    sub.add_argument("--batch_size", default="1", help="lm-eval's (default: 1)")
    sub.add_argument("--device", help="lm-eval's, e.g. cuda:0 or cpu")
    sub.add_argument("--apply_chat_template", action="store_true", help="as lm-eval's")
    sub.add_argument("--system_instruction", help="a system prompt")
    sub.add_argument("--gen_kwargs", default="", help="lm-eval's key=value,... in place of the tasks'")

    sub = add("compare", "paired differences between two runs of the same round")
    sub.add_argument("a", type=Path, metavar="A", help="samples_*.jsonl of a run, or a folder of them")
    sub.add_argument("b", type=Path, metavar="B")
    sub.add_argument(
        "--metrics", default="rouge_l,bertscore", help="comma-separated scores (default: rouge_l,bertscore)"
    )

    _judge_arguments(add("judge", "let a language model compare generated texts with their references, in both orders"))

    sub = add("report", "results as a site to look at: leaderboard, plots, samples, rounds")
    sub.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS",
        help="folders or files of results, samples and judges; dataset folders",
    )
    sub.add_argument("-o", "--output", type=Path, default=Path("site"), help="the site's folder (default: ./site)")
    sub.add_argument(
        "--cutoff",
        action="append",
        default=[],
        metavar="MODEL=YYYY-MM",
        help="up to when a model was trained; may be repeated",
    )
    sub.add_argument(
        "--licenses", choices=("all", "noncommercial", "redistributable"),
        help="which papers' texts are shown (default: all; with --space: redistributable)",
    )  # fmt: skip
    sub.add_argument("--space", metavar="ORG/NAME", help="publish it as a static Space on the Hub")

    add("tasks-path", "print the folder for lm_eval --include_path")
    sub = add("link-tasks", "let the bare `lm_eval --tasks academiceval_abs` find the tasks")
    sub.add_argument("--unlink", action="store_true", help="undo it")


def _hub_commands(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    sub = add(
        "push", "check a dataset folder and publish it on the Hub as one revision; without --yes only say what would be"
    )
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    sub.add_argument("--repo", required=True, metavar="ORG/NAME", help="the dataset repository")
    sub.add_argument(
        "--licenses",
        choices=("all", "noncommercial", "redistributable"),
        default="redistributable",
        help="which texts are uploaded, others by id only (default: redistributable)",
    )
    sub.add_argument("--yes", action="store_true", help="do it")
    sub.add_argument("--private", action="store_true", help="of a repository that is created")

    sub = add("verify", "download a revision from the Hub and compare it with its manifest")
    sub.add_argument("repo", metavar="ORG/NAME")
    sub.add_argument("--revision", default="main", help="default: main")

    sub = add("yank", "say that a published revision is not to be used, and publish what replaces it")
    sub.add_argument("repo", metavar="ORG/NAME")
    sub.add_argument("--revision", help="default: the newest")
    sub.add_argument("--reason", required=True, help="for the errata on the card")
    sub.add_argument("--paper", action="append", default=[], metavar="ID", help="take this paper down; may be repeated")
    sub.add_argument(
        "--takedowns",
        type=Path,
        default=Path("takedowns.jsonl"),
        help="list that the papers are added to, for the rounds to come (default: ./takedowns.jsonl)",
    )

    sub = add("push-results", "publish results on the Hub, in lm-eval's form and as a model index")
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="results_*.json, or folders of them")
    sub.add_argument("--repo", required=True, metavar="ORG/NAME", help="the dataset repository of results")
    sub.add_argument("--card", metavar="ORG/MODEL", help="the model whose card is to show the scores too")
    sub.add_argument("--dry-run", action="store_true", help="say what would be uploaded")


def _judge_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "samples", type=Path, nargs="+", metavar="SAMPLES", help="samples_*.jsonl of one run, or folders of them"
    )
    sub.add_argument("--model", nargs="+", help="judges (default: the paper's, Mixtral-8x22B)")
    sub.add_argument("--base-url", help="an OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--name", help="of the model that generated (default: the folder's name)")
    sub.add_argument("--concurrency", type=int, default=16, help="requests at a time (default: 16)")
    sub.add_argument("--output", type=Path, default=Path("judged"), help="folder for verdicts and win rates")
    sub.add_argument("--price-in", type=float, default=0.0, help="of a million prompt tokens, for the estimate")
    sub.add_argument("--price-out", type=float, default=0.0, help="of a million answer tokens")
    sub.add_argument("--dry-run", action="store_true", help="say what would be asked, ask nothing")


def _add_round_file(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", type=Path, nargs="?", default=Path("round.toml"), metavar="round.toml")


def _add_jobs(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files read at a time (default: processors)")
