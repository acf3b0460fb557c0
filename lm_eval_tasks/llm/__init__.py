"""Asking language models: chat and batch requests, what they use and may cost, reasoning in answers, tokenizers."""
