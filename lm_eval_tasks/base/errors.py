"""The named errors of the evaluation: each message is one sentence that names the input and what to do."""


class EvalError(Exception):
    """Root of all errors that a user can act on."""


class DatasetError(EvalError):
    """The dataset does not exist, is unfinished, or lacks the setting."""


class BudgetError(EvalError):
    """Not even the parts of a prompt that are never cut fit the model's context."""


class NothingFitsError(BudgetError):
    """`fits_only` leaves no prompt of a task."""


class OptionError(EvalError):
    """A value given to the tasks cannot be used."""


class SamplesError(EvalError):
    """Logged samples are missing, or do not belong together."""


class PromptError(EvalError):
    """An answer is to another prompt than its row's."""


class ModelError(EvalError):
    """The model cannot be opened."""


class NoScoreError(EvalError):
    """A model has answered none of the prompts."""


class CostError(EvalError):
    """The rest of a run could cost more than is allowed."""


class ServerError(EvalError):
    """A language model's server cannot be asked."""


class EngineError(EvalError):
    """The processes or machines that share the work cannot do it."""
