"""The insides of other libraries that we use are still there; a failure here names the module of ours to look at."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import arxiv
import datasets
import openai
import pytest
from datasets import DatasetInfo, Features, Value
from huggingface_hub import DatasetCardData
from inspect_ai._util.registry import registry_name
from lm_eval.api.model import LM, CacheHook

from builder.dataset import compat as card_compat
from builder.sources.arxiv import export_api as arxiv_compat
from lm_eval_tasks.compat import bert_score as bert_compat
from lm_eval_tasks.compat import datasets as lm_datasets
from lm_eval_tasks.compat import huggingface_hub as shared_hub_compat
from lm_eval_tasks.compat import inspect_ai as inspect_compat
from lm_eval_tasks.compat import lm_eval as lm_eval_compat
from lm_eval_tasks.compat import lm_eval_answers
from lm_eval_tasks.compat import openai as openai_compat
from lm_eval_tasks.compat.lm_eval_answers import Watch
from lm_eval_tasks.compat.openai import BoundedClient
from lm_eval_tasks.families.writing import METRIC_LIST as WRITING_METRIC_LIST
from lm_eval_tasks.llm.thoughts import in_marks
from lm_eval_tasks.llm.weights import minilm_path


def test_datasets_writes_its_info_into_cards() -> None:
    card = DatasetCardData()
    card_compat.add_dataset_info(card, {"A": DatasetInfo(config_name="A", features=Features({"id": Value("string")}))})
    info = card.to_dict()["dataset_info"]
    assert (info["config_name"], info["features"]) == ("A", [{"name": "id", "dtype": "string"}])


def test_bert_score_gives_its_tokenizer_and_model() -> None:
    tokenizer, model = bert_compat.load(minilm_path("test"), 6)
    ids = bert_compat.encode(tokenizer, "two words")
    together, mask = bert_compat.pad([ids, ids[:2]], tokenizer.pad_token_id)
    assert ids[0] == tokenizer.cls_token_id
    assert tuple(together.shape) == tuple(mask.shape) == (2, len(ids))
    assert model(together, attention_mask=mask)[0].shape[:2] == together.shape


def test_inspect_keeps_a_name_that_has_its_package() -> None:
    assert issubclass(inspect_compat.StopError, Exception)

    def made() -> None: ...

    assert registry_name(inspect_compat.as_package(made), "academiceval/abs_9k") == "academiceval/abs_9k"


def test_lm_eval_tells_answers_early() -> None:
    assert list(inspect.signature(LM.set_cache_hook).parameters) == ["self", "cache_hook"]
    assert list(inspect.signature(CacheHook.add_partial).parameters) == ["self", "attr", "req", "res"]
    noted: list[Any] = []
    watch = Watch(
        lm_eval_compat.open_model("dummy", {}, "1", None), lambda *said: noted.append(said), noted.append, in_marks
    )
    watch.add_partial("generate_until", ("prompt", {}), "answer")
    watch.add_partial("loglikelihood", ("prompt", "x"), 0.0)
    assert noted == [("prompt", {}, "answer", None, "")]


def test_lm_eval_opens_models_by_type() -> None:
    assert lm_eval_compat.parse_args("pretrained=a,max_length=8") == {"pretrained": "a", "max_length": 8}
    assert isinstance(lm_eval_compat.open_model("dummy", {}, "1", None), LM)
    with pytest.raises(KeyError):
        lm_eval_compat.open_model("no-such-type", {}, "1", None)


def test_lm_eval_reads_lists_by_function_tags() -> None:
    """Our task files name their metric lists as `!function`, which lm-eval reads as any object of a module."""
    from lm_eval.tasks import TaskManager

    from lm_eval_tasks.tasks.catalogue import tasks_path

    folder = lm_eval_compat.tasks_folder()
    assert folder is not None
    assert folder.is_dir()
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False)
    assert "academiceval_abs_9k" in manager.all_tasks
    names = [one["metric"] for one in WRITING_METRIC_LIST]
    assert names[:5] == ["rouge_l_content", "rouge_l", "rougeL", "bertscore", "bert_score"]


def test_pymupdf_is_opened_without_its_model_of_layouts() -> None:
    """A process of its own, as those that extract are."""
    script = "import sys, builder.mupdf; print(*(sys.modules.keys() & {'pymupdf', 'pymupdf.layout', 'pymupdf4llm', 'onnxruntime'}))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["pymupdf"]


def test_arxiv_asks_through_our_session() -> None:
    class Session:
        asked: list[str] = []  # noqa: RUF012

        def get(self, url: str, headers: object = None) -> object:
            self.asked.append(url)
            raise ConnectionError

    with pytest.raises(ConnectionError):
        next(arxiv_compat.client("http://127.0.0.1:9/api", 7, Session()).results(arxiv.Search("au:x")))
    [url] = Session.asked
    assert url.startswith("http://127.0.0.1:9/api?")
    assert "max_results=7" in url


def test_huggingface_hub_has_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert issubclass(shared_hub_compat.HTTPError, Exception)
    assert shared_hub_compat.HTTPError is not Exception
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    assert shared_hub_compat.uses_xet()
    shared_hub_compat.use_lfs()
    assert not shared_hub_compat.uses_xet()


def test_openais_client_can_be_bounded() -> None:
    assert issubclass(BoundedClient, openai.DefaultAsyncHttpxClient)
    assert {"request", "stream"} <= set(inspect.signature(openai.DefaultAsyncHttpxClient.send).parameters)
    transport = openai_compat._transport()
    assert issubclass(transport.ReadTimeout, Exception)
    assert hasattr(transport.Response, "aiter_raw")


def test_datasets_streams_without_torch() -> None:
    before = datasets.config.TORCH_AVAILABLE
    with lm_datasets.without_torch():
        assert not datasets.config.TORCH_AVAILABLE
    assert before == datasets.config.TORCH_AVAILABLE


def test_lm_eval_models_keep_an_order() -> None:
    from lm_eval.models import api_models

    theirs = api_models.Collator
    requests = ["a", "longest", "mid"]
    with lm_eval_answers.as_given(lambda event: None):
        batches = list(api_models.Collator(requests, sort_fn=len).get_batched(n=1))
    assert [request for batch in batches for request in batch] == requests
    assert api_models.Collator is theirs
