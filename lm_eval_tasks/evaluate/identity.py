"""What tells one model from another, and what it is called."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.redaction import redact, secrets_in
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.llm.tokenizers import GGUF
from lm_eval_tasks.samples.results import label

# Arguments that say how or where a model is run, not which it is: its answers are the same, but for the rounding of another order of
# sums.
# docs/options.md lists them; `kv_cache_dtype`, `dtype`, `quantization`, `hf_overrides` and the like are not among them.
RUNTIME = frozenset(
    # of servers and of all models
    "base_url batch_size max_batch_size device num_concurrent max_retries timeout "
    # of transformers
    "parallelize gpus device_map max_memory_per_gpu max_cpu_memory offload_folder attn_implementation "
    # of vLLM: memory
    "gpu_memory_utilization kv_cache_memory_bytes num_gpu_blocks_override block_size swap_space cpu_offload_gb kv_offloading_size "
    "kv_offloading_backend "
    # of vLLM: where it runs
    "tensor_parallel_size pipeline_parallel_size data_parallel_size decode_context_parallel_size prefill_context_parallel_size "
    "enable_expert_parallel distributed_executor_backend disable_custom_all_reduce data_parallel_backend data_parallel_size_local "
    "data_parallel_address nnodes node_rank master_addr master_port numa_bind device_ids "
    # of vLLM: how it goes through prompts
    "max_num_seqs max_num_batched_tokens long_prefill_token_threshold enable_prefix_caching enable_chunked_prefill enforce_eager "
    "cudagraph_capture_sizes max_cudagraph_capture_size max_seq_len_to_capture async_scheduling disable_log_stats "
    "compilation_config optimization_level attention_backend disable_hybrid_kv_cache_manager use_tqdm_on_load "
    # of vLLM: how weights are read
    "download_dir max_parallel_loading_workers safetensors_load_strategy".split()
)


def label_of(model: str, arguments: Mapping[str, object], *, full: bool = False) -> str:
    """Return what a model is called in tables and file names: its weights' name, or else its type's.

    Args:
        full: with its organization or folder, as price tables call it.

    Raises:
        OptionError: the name looks like a key.
    """
    name = str(arguments.get("pretrained") or arguments.get("model") or model).rstrip("/")
    if next(secrets_in(name), None):
        raise OptionError(
            "the model's name looks like a key, which would become the name of a file: give the key in OPENAI_API_KEY"
        )
    # A folder may have several such files.
    return name if full else label(str(arguments.get("gguf_file") or "").removesuffix(GGUF) or name)


def distinguishing(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that make a model another one."""
    # "auto" is what `dtype`, `kv_cache_dtype` and the like are if they are not given.
    return {key: value for key, value in arguments.items() if key not in RUNTIME and value not in (None, "auto")}


def identity_of(model: str, arguments: Mapping[str, object], weights: Mapping[str, str], generation: Generation) -> str:
    """Return what an answer depends on besides the prompt: the model's type, arguments and weights, and how it is prompted."""
    how = {key: value for key, value in asdict(generation).items() if key not in (*RUNTIME, "repeats")}
    # A renewed key does not make another model.
    return json.dumps(
        redact([model, distinguishing(arguments), how, *([weights] if weights else [])]), sort_keys=True, default=str
    )
