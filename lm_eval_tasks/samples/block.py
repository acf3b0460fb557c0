"""What we add to lm-eval's results: how a run was asked for, its scores and what made them; written and read as one record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lm_eval_tasks.base.typed import Count, Number
from lm_eval_tasks.compat.vllm import EngineSettings
from lm_eval_tasks.llm.served_length import ServedLength
from lm_eval_tasks.llm.usage import UsageTotals

# The block's key in a file of results.
OURS = "academiceval"
# Of a run: its block and its samples. Raised when, and only when, an older release would read them wrongly.
FORMAT = 1
# Arguments as they were given: of a model, or in --metadata.
Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: the mean over the samples that have it, and its 95 % interval, clustered by first authors.

    Attributes:
        low, high: None if there is no interval.
        samples: how many have it.
        retriever: what chose the chunks of a retrieval task, "" for the other tasks.
        of: how many samples the task has in all; None if it is not known.
    """

    model: str
    task: str
    metric: str
    value: Number
    low: Number | None
    high: Number | None
    samples: Count
    retriever: str = ""
    of: Count | None = None


@dataclass(frozen=True, slots=True)
class BinScore:
    """The mean score over a part of the samples, and its 95 % interval; None without one."""

    n: Count
    mean: Number
    low: Number | None
    high: Number | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """How a run was asked for, as the options of `academiceval eval` say.

    Attributes:
        tasks, contexts: as `eval` was given them; none if the run does not say it.
        weights: what identifies the model's weights: a commit of the Hub, or hashes of files.
        model_cutoff: the month up to which the model was trained; None if it is not known.
        served_as: the models that a server said it was.
    """

    model: str
    tasks: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    model_args: Arguments = field(default_factory=dict)
    metadata: Arguments = field(default_factory=dict)
    batch_size: str | int = "1"
    device: str | None = None
    apply_chat_template: bool | str = False
    system_instruction: str | None = None
    gen_kwargs: str = ""
    seed: str | int = ""
    repeats: Count = 1
    limit: Number | None = None
    samples: Mapping[str, tuple[Count, ...]] | None = None
    weights: Mapping[str, str] = field(default_factory=dict)
    model_cutoff: str | None = None
    served_as: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """What made the answers of a run.

    Attributes:
        chat_template: its sha256, None if prompts do not go through one.
        window: the length that prompts were cut to and what said so, None if nothing cut them.
        engine: None if it does not run in this process.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    chat_template: str | None = None
    window: ServedLength | None = None
    engine: EngineSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The block.

    Attributes:
        format: see `FORMAT`.
        subsets: task -> how many of its samples were run and how many there are, for tasks of which only a part was run.
        datasets: revisions of the dataset.
        failures: task -> metric -> of how many samples it could not be computed.
        places: task -> third of the context where the answers stand -> its score, see `stats.scores`.
        usage: what the answers used.
        files: name -> sha256 of the files of samples, added as they are written.
    """

    run: RunRequest
    rounds: tuple[str, ...]
    prompt_versions: tuple[Count, ...]
    scores: tuple[Score, ...]
    subsets: Mapping[str, tuple[Count, Count]] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    failures: Mapping[str, Mapping[str, Count]] = field(default_factory=dict)
    places: Mapping[str, Mapping[str, BinScore]] = field(default_factory=dict)
    usage: UsageTotals = field(default_factory=UsageTotals)
    made_with: MadeWith = field(default_factory=MadeWith)
    files: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT
