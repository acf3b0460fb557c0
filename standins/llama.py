"""A tiny random Llama, saved as a folder that engines load. What makes it takes seconds to import, so it is imported then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

CONTEXT = 6144  # tokens of the tiny Llama: less than any prompt of the small world, more than its uncuttable parts


def make_llama(
    place: Path,
    hidden_size: int = 16,
    max_position_embeddings: int = CONTEXT,
    texts: Sequence[str] = ("Please read the following Target Content carefully and summarize it as required.",) * 20,
    vocabulary: int = 600,
    ends: int = 1,
) -> None:
    """Save a tiny random Llama with two attention heads, its tokenizer and a chat template.

    Args:
        texts: that the tokenizer learns from.
        ends: how many tokens end an answer.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.chat_template = (
        "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}</s>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=hidden_size,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=max_position_embeddings,
        bos_token_id=0,
        eos_token_id=1 if ends == 1 else list(range(1, 1 + ends)),
    )
    fast.save_pretrained(place)
    LlamaForCausalLM(config).save_pretrained(place)
