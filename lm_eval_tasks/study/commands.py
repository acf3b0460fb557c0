"""The commands that measure the measuring: contamination, linked rounds, what metrics notice.

Nothing imports this package; the command line loads it by name, and it adds itself to the registries of commands and scales.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.core.command_line import STUDY, check_there, positive
from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.stats import scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lm_eval_tasks.core.command_line import Commands
    from lm_eval_tasks.core.tables import Json, Table
    from lm_eval_tasks.study.eyesight import ReportCard
    from lm_eval_tasks.study.report_card import Original


def register(commands: Commands) -> None:
    """Add the commands, and the scale on which rounds are comparable."""
    scales.register("linked", _link_settings)
    help_ = "do models score higher on papers that they may have seen in training?"
    sub = commands.add(STUDY, "contamination", help_, contamination)
    sub.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="output folders of runs of several models")
    help_ = "up to which month a model was trained; may be repeated (default: from the run, the registry or its card)"
    sub.add_argument("--cutoff", action="append", default=[], metavar="MODEL=YYYY-MM", help=help_)
    sub.add_argument("--metric", default="rouge_l_content", help="default: rouge_l_content")
    sub = commands.add(STUDY, "link-rounds", "scores of later rounds on the scale of the first", link_rounds)
    help_ = "for each round, the oldest first, the folder that contains its runs"
    sub.add_argument("rounds", type=Path, nargs="+", metavar="ROUND_RUNS", help=help_)
    help_ = "comma-separated models that were run on every round (default: five small open models)"
    sub.add_argument("--anchors", help=help_)
    sub.add_argument("--metric", default="", help="default: the first headline metric of each task")
    help_ = "show what metrics notice: their report card over texts that are damaged on purpose"
    sub = commands.add(STUDY, "metrics", help_, metrics)
    sub.add_argument("source", type=Path, metavar="FOLDER", help="a dataset folder, or the output folder of a run")
    sub.add_argument(
        "--task", choices=("abs", "title", "intro"), default="abs", help="of a dataset: what is written (default: abs)"
    )
    sub.add_argument("--metrics", help="comma-separated (default: all)")
    sub.add_argument(
        "--bertscore", metavar="MODEL", default="minilm", help="default: minilm; none leaves BERTScore out"
    )
    help_ = "of a dataset: damage the authors' own first versions, in place of other human texts"
    sub.add_argument("--revisions", action="store_true", help=help_)
    sub.add_argument("--limit", type=positive, help="at most this many texts")
    sub.add_argument("--judge", metavar="MODEL", help="measure this judge too: original against damaged text")
    sub.add_argument("--base-url", help="the judge's OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--evidence", type=positive, metavar="K", help="as of judge")
    sub.add_argument("--concurrency", type=positive, default=16, help="requests at a time (default: 16)")
    sub.add_argument("--verdicts", type=Path, default=Path("judged"), help="folder for the judge's verdicts")
    sub.add_argument(
        "--output", type=Path, metavar="FILE", help="write the report card as JSON too; `academiceval report` shows it"
    )


def _link_settings(settings: Sequence[scales.SettingScores], anchors: str | None) -> scales.Scaled:
    from lm_eval_tasks.study.linking import anchors_of, linked_settings

    return linked_settings(settings, anchors_of(anchors))


# --- what the commands do


def _check_metrics(names: str) -> None:
    from lm_eval_tasks.metrics.registry import check_names

    check_names(names.split(",") if names else ())


def contamination(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.runs)
    _check_metrics(arguments.metric)
    from lm_eval_tasks.study import contamination as estimating
    from lm_eval_tasks.study import contamination_verdicts, styles
    from lm_eval_tasks.study.models_of_runs import read_runs

    runs, cutoffs = read_runs(arguments.runs, arguments.cutoff)
    seen = estimating.observations(runs, cutoffs, arguments.metric)
    effects = estimating.effects(seen)
    yield from contamination_verdicts.verdicts(effects)
    yield ""
    yield contamination_verdicts.table(effects)
    yield ""
    yield "Mean scores by months since the model's cut-off, with the papers' difficulty removed (number of samples):"
    yield ""
    yield contamination_verdicts.age_table(seen)
    by_style = styles.table(runs, arguments.metric)
    if by_style.rows:
        yield from ("", "Mean scores by how much a paper's abstract reads as if a language model had written it:", "")
        yield by_style


def link_rounds(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.rounds)
    _check_metrics(arguments.metric)
    from lm_eval_tasks.study import linking
    from lm_eval_tasks.study.models_of_runs import read_rounds

    anchors = linking.anchors_of(arguments.anchors)
    linked, links = linking.link(read_rounds(arguments.rounds), anchors, arguments.metric)
    yield linking.table(linked)
    yield ""
    for link in links:
        way = "higher" if link.shift >= 0 else "lower"
        yield f"{link.round}, {link.task}: {link.anchors} anchors score {abs(link.shift):.4f} {way} than in the first round"
        yield from (
            f"  {model} moved differently from the other anchors: leave it out with --anchors" for model in link.changed
        )
    yield "Anchors that have all changed alike cannot be told from easier papers."


def metrics(arguments: Namespace) -> Iterator[str | Table | Json]:
    check_there(arguments.source)
    from lm_eval_tasks.core.metadata import check
    from lm_eval_tasks.metrics import registry

    by_name = {metric.name: metric for metric in registry.of_texts()}
    names = arguments.metrics.split(",") if arguments.metrics else list(by_name)
    registry.check_names(names, list(by_name.values()))
    check({"bertscore_model": arguments.bertscore})
    if arguments.judge in by_name:
        raise EvalError(f"a judge cannot be called {arguments.judge!r}, which is a metric")
    import json

    from lm_eval_tasks.core.files import write_whole
    from lm_eval_tasks.core.tables import Json
    from lm_eval_tasks.study import eyesight, report_card

    texts, is_run = _originals(arguments)
    # The judge first: a server that does not answer is noticed before the metrics take their minutes.
    judges = (_judges_card(arguments, texts),) if arguments.judge else ()
    card = eyesight.ReportCard.together((report_card.measure(texts, [by_name[name] for name in names]), *judges))
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(arguments.output, json.dumps(card.to_json(), indent=1))
    if arguments.show == "json":
        yield Json(card.to_json())
        return
    yield eyesight.table(card)
    if is_run:
        yield from _agreement(arguments.source, names)
    yield (
        f"\nShare of {len(texts)} texts in which the damaged one scores worse; a headline metric below {eyesight.BLIND} is called blind."
    )


def _originals(arguments: Namespace) -> tuple[list[Original], bool]:
    """The texts to damage, and whether they are the answers of a run."""
    from lm_eval_tasks.core.row_format import MANIFEST
    from lm_eval_tasks.study import originals

    if not (arguments.source / MANIFEST).is_file():
        return originals.answers_of(arguments.source, arguments.bertscore)[: arguments.limit], True
    of_dataset = originals.first_versions if arguments.revisions else originals.human_texts
    texts = of_dataset(str(arguments.source), arguments.task, arguments.bertscore, {})
    return texts[: arguments.limit], False


def _agreement(run: Path, names: list[str]) -> Iterator[str | Table]:
    """How far metrics agree over a run's answers, as far as they vary."""
    from lm_eval_tasks.samples.sample import read
    from lm_eval_tasks.stats import correlations

    if agreement := correlations.correlations(read([run]), names):
        yield from ("", "How far the metrics agree, over the run's answers:", "", correlations.table(agreement))


def _judges_card(arguments: Namespace, texts: list[Original]) -> ReportCard:
    """The report card of a judge; its verdicts are kept, so that the same command resumes."""
    from lm_eval_tasks.core.journal import Journal
    from lm_eval_tasks.core.locks import exclusive
    from lm_eval_tasks.judge.ask import Judge
    from lm_eval_tasks.judge.run import slug
    from lm_eval_tasks.llm.budget import Means
    from lm_eval_tasks.llm.chat import Server
    from lm_eval_tasks.study import judge_card as report_card

    judge = Judge(Server(arguments.judge, arguments.base_url), arguments.concurrency, Means())
    place = arguments.verdicts / f"verdicts_{slug(arguments.judge)}.jsonl"
    with exclusive(place):
        return report_card.measure(texts, report_card.cases_of(texts, arguments.evidence), judge, Journal(place))
