# `make run` and `make test` need Python 3.11+ and a package registry; they make .venv and install the pinned packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2

# Large tensors stay in the process instead of going back to the kernel after each layer (glibc): nearly twice as fast.
export MALLOC_MMAP_THRESHOLD_ := 4294967296
export MALLOC_TRIM_THRESHOLD_ := 8589934592
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: run test test-slow test-wheel lint ui report docs

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $(READY)

run: $(READY)  ## the embedded job of params.yaml: from data to tables, figures and the MLflow database
	snakemake --cores $(WORKERS) --quiet rules host -- all
	@echo && python -m pascal.pipeline.summary

ui: $(READY)  ## compare runs in the browser
	python -m pascal.pipeline.ui

docs: $(READY)  ## the pages and the API reference as a site under build/site; a warning is an error
	mkdocs build --strict --quiet

report: $(READY)  ## one page with all tables and figures
	snakemake --report report.html

test: lint  ## the fast suite: style, types, tests
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not slow and not pipeline"

test-slow: $(READY)  ## what takes longer: large networks, and the pipeline with its faults on a tiny workspace
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "slow or pipeline" --durations 20

test-wheel: $(READY)  ## README and tutorial by the built wheel in an environment that holds nothing else
	rm -rf build/wheel && python -m tests.wheel build/wheel

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint
