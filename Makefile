# Everything from a bare clone: CPython >= 3.11 with pip is all that must be there.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test check format setup clean

setup: $(VENV)/installed

# torch first: its CPU build is what constraints.txt names, and nothing else may pull another one.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch
	$(PIP) install -q -c constraints.txt -e ".[dev]"
	touch $@

# A full round over a made-up arXiv, offline; then the bare lm_eval command over what it built.
demo: setup
	$(BIN)/academiceval link-tasks
	$(BIN)/academiceval demo --folder demo
	cd demo && HF_HUB_OFFLINE=1 ../$(BIN)/lm_eval --tasks academiceval_abs --model dummy --limit 2 --metadata '{"bertscore_model": "minilm"}'

test: setup check
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo build *.egg-info
