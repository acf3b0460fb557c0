"""What is known about models besides their scores, and what their runs took: beside the scores, and as a record that the page links to."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hub_scripts.errors import ReportError
from hub_scripts.report.drawing import file_name
from hub_scripts.report.round_names import RoundNames
from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.metadata import NO_MODEL, OPTIONS
from lm_eval_tasks.base.redaction import redact, without_places
from lm_eval_tasks.data.cutoff import folded_name
from lm_eval_tasks.llm.usage import UsageTotals, usage_together
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL
from lm_eval_tasks.samples.results import Results


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about one model; empty where unknown."""

    organisation: str = ""
    parameters: str = ""
    licence: str = ""
    released: str = ""
    link: str = ""


def known_models(overrides: Path | None = None) -> dict[str, ModelFacts]:
    """Name -> facts, in the order in which they are looked up: first those of a file like the packaged one."""
    first, packaged = _read(overrides) if overrides else {}, _read(Path(__file__).parent / "models.toml")
    return {**first, **{name: facts for name, facts in packaged.items() if name not in first}}


def facts_of(model: str, known: Mapping[str, ModelFacts]) -> ModelFacts:
    """Return the facts of a model; empty ones if it is not known. A name that says more than its model's, as another size or version,
    belongs to a model derived from that.
    """
    name = folded_name(model)
    pattern = next((pattern for pattern in known if folded_name(pattern) in name), None)
    if pattern is None:
        return ModelFacts()
    facts = known[pattern]
    usual = _USUAL.union(*(folded_name(each).split("-") for each in (pattern, facts.link)))
    parts = [folded_name(part) for part in re.split("/|__", model)]
    own = next((part for part in reversed(parts) if folded_name(pattern) in part), name)
    more = [word for word in own.split("-") if word not in usual]
    is_its_day = bool(facts.released) and "".join(more).startswith(facts.released.replace("-", ""))
    return ModelFacts() if more and not is_its_day else facts


def _read(path: Path) -> dict[str, ModelFacts]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as err:
        raise ReportError(f"--models {path} cannot be read: {err}") from err
    return {name: _given_facts(path, name, values) for name, values in content.items()}


def _given_facts(path: Path, name: str, values: Any) -> ModelFacts:
    is_list = isinstance(values, list) and len(values) == 5 and all(isinstance(value, str) for value in values)
    if not is_list or (not values[4].startswith(("https://", "http://")) and values[4]):
        raise ReportError(
            f'{path}: "{name}" needs five texts: organisation, parameters, licence, month of release, address of its page'
        )
    return ModelFacts(*values)


# Words of a name that tell how a model is asked, or in which form its weights are.
_USUAL = frozenset(
    "instruct it chat base hf latest main free turbo gguf awq gptq bnb fp8 bf16 nf4 mxfp4 int4 int8 4bit 8bit dynamic quantized "
    "q2 q3 q4 q5 q6 q8 k m s xs w4a16 w8a8 w8a16".split()
)
RECORDS = Path("data") / "runs"
_KEPT = ("prompt_versions", "made_with", "usage", "subsets", "datasets")
# Of how a run was asked for: what is about the model, and what is not about the machine; the former are options of `academiceval eval`.
_OPTIONS = (
    "model model_args tasks contexts metadata apply_chat_template system_instruction "
    "gen_kwargs seed repeats limit samples"
).split()
_RUN = ("model_cutoff", "weights")
# A value that may be a place on somebody's machine or network.
_PLACE = re.compile(r"[/\\~$]")
# A shard, or a mark around thoughts.
_NO_PLACE = re.compile(r"\d+/\d+|</?[\w|]+>")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The runs of one model on one round.

    Attributes:
        day: of the newest, ISO; "" if it is not known.
        tokens_in, tokens_out: means per answer; None if a run does not say them.
        cost: of 1,000 answers, in the unit of the price table; None if a run does not say it.
        record: path in the site of the file that says all of it.
        served: the models that a server said it was.
    """

    day: str
    tokens_in: float | None
    tokens_out: float | None
    cost: float | None
    record: str
    served: tuple[str, ...]


def how_asked(run: Results | None) -> str:
    """Return what the answers of a run depend on besides the papers; "" if it does not say. Runs that agree in it may be parts of one."""
    if run is None or run.run is None:
        return ""
    from lm_eval_tasks.evaluate.identity import distinguishing

    request = run.run
    prompts = {option.key: request.metadata.get(option.key) for option in OPTIONS["Prompts"]}
    served = run.block.usage.served if run.block else {}
    how = (request.apply_chat_template, request.system_instruction, request.gen_kwargs, request.repeats)
    known = [distinguishing(request.model_args), request.weights, how, prompts, sorted(served)]
    return json.dumps(redact([request.model, *known]), sort_keys=True, default=str)


def run_facts(runs: Mapping[str, Sequence[Results]], names: RoundNames, site: Path) -> dict[tuple[str, str], RunFacts]:
    """Return (round, model) -> its runs; their records are written below the site's folder."""
    facts = {}
    (site / RECORDS).mkdir(parents=True, exist_ok=True)
    for model, results in runs.items():
        by_round: dict[str, list[Results]] = {}
        for run in results:
            for round_ in run.rounds or (run.round,):
                by_round.setdefault(names.get((round_, run.contents), round_), []).append(run)
        for round_ in sorted(by_round):
            of_round = _newest(by_round[round_])
            record = RECORDS / f"{file_name(f'{round_}_{model}')}.json"
            text = json.dumps([_record(run) for run in of_round], indent=1, sort_keys=True, default=str)
            (site / record).write_text(text + "\n", encoding="utf-8")
            facts[round_, model] = _facts(of_round, record.as_posix())
    return facts


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """Return the BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}


def _newest(runs: Sequence[Results]) -> list[Results]:
    """Return the runs that are the newest of any of their tasks or of a shard of one, parts of the samples behind whole ones; others are
    not shown, nor those that asked otherwise than the first.
    """
    shown: list[Results] = []
    parts: set[tuple[str, object]] = set()
    in_order = sorted(runs, key=lambda run: (bool(run.subsets), -run.seconds))
    first = how_asked(in_order[0])
    for run in in_order:
        if how_asked(run) not in ("", first):
            continue
        shard = run.options.get("shard")
        tasks = {score.task for score in run.scores}
        if not shown or any(parts.isdisjoint({(task, None), (task, shard)}) for task in tasks):
            shown.append(run)
            parts |= {(task, shard) for task in tasks}
    return shown


def _facts(runs: Sequence[Results], record: str) -> RunFacts:
    usage = usage_together([run.block.usage if run.block else UsageTotals() for run in runs])

    answers = usage.answers or 0
    told = answers - (usage.untold or 0)
    return RunFacts(
        day=max(run.day for run in runs),
        tokens_in=_mean(usage.tokens_in, told),
        tokens_out=_mean(usage.tokens_out, told),
        cost=_mean(None if usage.cost is None else 1000 * usage.cost, answers),
        record=record,
        served=tuple(without_places(usage.served)),
    )


def _mean(total: float | None, answers: int) -> float | None:
    return total / answers if answers and total is not None else None


def _record(run: Results) -> dict[str, Any]:
    """Return what a reader needs to repeat a run, without places on the machine that it ran on."""
    request = asdict(run.run) if run.run else {}
    given = {name: _shown(request.get(name) or {}, run) for name in ("model_args", "metadata")}
    asked = {name: request[name] for name in (*_OPTIONS, *_RUN) if name in request} | given
    block = asdict(run.block) if run.block else {}
    about = without_places({name: block[name] for name in _KEPT if name in block})
    facts = {"model": run.model, "round": run.round, "day": run.day, "engine": run.engine, "run": asked, **about}
    shown: dict[str, Any] = redact(facts)
    return shown | ({"command": _command(shown["run"])} if asked.get("tasks") and run.engine != GIVEN else {})


def _command(asked: Mapping[str, Any]) -> str:
    """Return the command that asks the same; where the record has only the end of a place, so has the command."""
    given = {name: asked[name] for name in _OPTIONS if asked.get(name) and (name, asked[name]) != ("repeats", 1)}
    texts = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in given.items()}
    texts |= {name: json.dumps(value) for name, value in given.items() if isinstance(value, Mapping)}
    flags = (f"--{name}" if value is True else f"--{name}={value}" for name, value in texts.items())
    return shlex.join(["academiceval", "eval", *flags])


def _shown(value: Any, run: Results) -> Any:
    """Return an argument; of one that may be a place only the last part, unless it is the model or the dataset of the Hub that was run."""
    if isinstance(value, Mapping):
        return {key: _shown(item, run) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item, run) for item in value]
    names = (run.hub_model, run.hub_id, DEFAULT_MODEL)
    if not isinstance(value, str) or not _PLACE.search(value) or value in names or _NO_PLACE.fullmatch(value):
        return value
    return re.split(_PLACE, value.rstrip("/\\"))[-1]
