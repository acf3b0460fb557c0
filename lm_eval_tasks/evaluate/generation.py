"""What generates a run's answers, how, and in which order, checked before anything large is imported."""

from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.errors import EvalError, OptionError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.compat.lm_eval import model_types
from lm_eval_tasks.families.registry import BASELINES


def check_model(name: str) -> None:
    """Raise an EvalError for a model that is neither a baseline nor of one of lm-eval's types."""
    known = (*BASELINES, *model_types(), GIVEN)
    if name in known:
        return
    if not name:
        raise EvalError("name what to evaluate with --model: a baseline, or a model type of lm-eval such as hf or vllm")
    hint = suggestion(name, known, "{}", "`hf` opens a folder or a model of the Hub by --model_args pretrained=...")
    raise EvalError(f"{name!r} is neither a baseline ({', '.join(BASELINES)}) nor a model type of lm-eval; {hint}")


@dataclass(frozen=True, slots=True)
class Generation:
    """How a run generates, as lm-eval's options of the same names.

    Raises:
        EvalError: the seeds are neither one number nor four, or the arguments of generation contain no key.
    """

    batch_size: str = "1"
    device: str | None = None
    apply_chat_template: bool = False
    system_instruction: str | None = None
    gen_kwargs: str = ""
    seed: str = ""
    repeats: int = 1

    def __post_init__(self) -> None:
        _read_seeds(self.seed)
        pieces = [piece for piece in self.gen_kwargs.split(",") if piece.strip()]
        is_json = self.gen_kwargs.lstrip().startswith("{")
        if self.gen_kwargs.strip() and not is_json and not any("=" in piece for piece in pieces[:1]):
            raise EvalError(f"--gen_kwargs {self.gen_kwargs!r:.80} is not key=value,...")

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """Those of random, numpy, torch and few-shot examples, as lm-eval reads them; none if none was given."""
        return _read_seeds(self.seed)


def _read_seeds(seed: str) -> tuple[int | None, ...]:
    pieces = seed.split(",") if seed else []
    sentence = f"--seed {seed!r:.40} is neither a number nor four with commas between them"
    try:
        read = tuple(None if piece.strip() == "None" else int(piece) for piece in pieces)
    except ValueError as err:
        raise OptionError(sentence) from err
    if len(read) not in (0, 1, 4) or any(value is not None and not 0 <= value < 2**32 for value in read):
        raise OptionError(sentence)
    return read * 4 if len(read) == 1 else read


def by_beginning(prompts: Sequence[str]) -> list[int]:
    """Return places of prompts in an order in which those that begin alike follow one another, the group with the longest prompt first.

    Prompts are alike if at least half of the shorter one is what the other begins with.
    """
    groups: list[list[int]] = []
    for i in sorted(range(len(prompts)), key=prompts.__getitem__):
        last = prompts[groups[-1][-1]] if groups else ""
        half = min(len(last), len(prompts[i])) // 2
        if groups and last[:half] == prompts[i][:half]:
            groups[-1].append(i)
        else:
            groups.append([i])
    groups.sort(key=lambda group: -max(len(prompts[i]) for i in group))
    return [i for group in groups for i in group]
