"""Asking language models: chat, what they use and may cost, reasoning in answers, tokenizers."""
