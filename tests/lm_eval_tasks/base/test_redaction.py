"""Secrets stay here."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from lm_eval_tasks.base.redaction import HIDDEN, redact, secrets_in, without_places

SECRET = "Zq8vX1kT0rB7nM3wP5sD9fGh"
HOLDING = {
    "api_key": SECRET,
    "API-KEY": SECRET,
    "openai_api_key": SECRET,
    "hf_token": SECRET,
    "token": SECRET,
    "auth_token": SECRET,
    "password": SECRET,
    "client_secret": SECRET,
    "authorization": f"Bearer {SECRET}",
    "base_url": f"http://user:{SECRET}@127.0.0.1:8000/v1",
    "model_args": f"model=m,base_url=http://h/v1,api_key={SECRET},num_concurrent=4",
    "headers": f"Authorization: Bearer {SECRET}",
    "openai_key": SECRET,
    "pwd": SECRET,
    "auth": SECRET,
    "proxy-authorization": f"Basic {SECRET}",
    "query": f"http://127.0.0.1/v1?key={SECRET}&limit=3",
    "typed": f"academiceval judge --api-key {SECRET} run",
    "address": f"http://user:p@{SECRET}@127.0.0.1/v1",
    "user alone": f"https://{SECRET}@example.org/",
    "escaped": json.dumps(json.dumps({"api_key": SECRET})),
    "signed": f"eyJ{SECRET}.{SECRET}.{SECRET}",
    "note": f"use hf_{SECRET} or sk-{SECRET} or ghp_{SECRET}{SECRET}",
}
HARMLESS = {
    "tokenizer": "bert-base-uncased",
    "tokens_before": "1200",
    "think_end_token": "</think>",
    "eos_token": "<|im_end|>",
    "max_gen_toks": 512,
    "prompt": "The secret of attention: a token is a word. Its password is unknown, see https://arxiv.org/abs/1706.03762.",
    "api_key": None,
    "url": "https://export.arxiv.org:443/api",
}


@pytest.mark.parametrize("name", HOLDING)
def test_a_secret_is_hidden_wherever_it_stands(name: str) -> None:
    value = {"deep": [{name: HOLDING[name]}]}
    text = json.dumps(redact(value))
    assert SECRET not in text
    assert HIDDEN in text
    assert SECRET not in redact(json.dumps(value))
    assert list(secrets_in(json.dumps(value)))
    assert not list(secrets_in(text))
    assert all(SECRET not in one for one in secrets_in(json.dumps(value)))


def test_what_is_no_secret_is_left_alone() -> None:
    assert redact(HARMLESS) == HARMLESS
    assert redact(json.dumps(HARMLESS)) == json.dumps(HARMLESS)
    assert not list(secrets_in(json.dumps(HARMLESS)))


def test_other_types_pass_through() -> None:
    assert redact((1, None, 2.5, b"x")) == (1, None, 2.5, b"x")


def test_a_secret_of_digits_is_one() -> None:
    assert redact({"api_key": 123456789012}) == {"api_key": HIDDEN}
    assert redact({"access_key": [SECRET, "second"], "secret": {"deep": SECRET}}) == {
        "access_key": HIDDEN,
        "secret": HIDDEN,
    }
    assert list(secrets_in('{"api_key": 123456789012}'))


def test_named_tuples_stay_what_they_are() -> None:
    class Pair(NamedTuple):
        key: str
        value: str

    assert redact(Pair("a", "api_key=sk-123456789")) == Pair("a", f"api_key={HIDDEN}")


def test_places_leave_in_keys_no_more_than_in_values() -> None:
    served = {"/home/me/models/tiny": 2, "C:\\models\\tiny": 1, "http://10.0.0.1:8000/v1": 4}
    said = "Use title/abstract/body of the paper."
    assert without_places(
        {"served": served, "at": "/home/me/x/", "of": "at=/home/me/y/", "system_instruction": said}
    ) == {
        "served": {"tiny": 3, "(address)": 4},
        "at": "x",
        "of": "at=y",
        "system_instruction": said,
    }
    assert redact({f"hf_{SECRET}": 1}) == {HIDDEN: 1}
