# Two commands for a newcomer: `make run` and `make test`. Both build .venv on a machine that has
# nothing but python3.11+ (with pip) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DOCS   := $(VENV)/.docs-installed

# The main job: five tasks, three seeds; about three minutes on two cores. Records that are there are not made again.
TASKS   := er-single er-multi sbm-20 sbm-14-20 sbm-20-30
RECORDS := results/quick
WORKERS ?= 2
SEEDS   ?= 3

.DEFAULT_GOAL := help
.PHONY: help run test lint format bench results docs clean

help:            ## what there is
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "anysize needs Python 3.11 or newer; call make with PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: $(STAMP)    ## the main job: tables 1 and 2 beside the published numbers, and report.html
	$(BIN)/anysize sweep $(TASKS) --grid quick --seeds $(SEEDS) --workers $(WORKERS) --records $(RECORDS)
	$(BIN)/anysize sweep $(filter sbm%,$(TASKS)) --methods gamma-gin,gamma-rpgin --recipe robust \
		--seeds $(SEEDS) --workers $(WORKERS) --records $(RECORDS)
	$(BIN)/anysize table 1 --records $(RECORDS) --tasks er-single,er-multi --splits test
	$(BIN)/anysize table 2 --records $(RECORDS) --splits test
	$(BIN)/anysize report --records $(RECORDS) --out report.html

test: $(STAMP)   ## every test
	$(BIN)/python -m pytest

lint: $(STAMP)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## let ruff rewrite
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## speed of counting beside igraph and networkx, of training beside plain PyG models
	$(BIN)/python -m benchmarks.counting
	$(BIN)/python -m benchmarks.learning --quick
	$(BIN)/python -m benchmarks.baselines --quick

results: $(STAMP) ## docs/results.md, the table of README.md and its figure, from results/records
	$(BIN)/python -m tools.results_page --records results/records --out docs/results.md --readme README.md
	$(BIN)/python examples/draw_results.py results/records docs/figures/results.svg

$(DOCS): pyproject.toml constraints.txt | $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(DOCS)    ## the manual, into site/
	$(BIN)/mkdocs build --strict

clean:           ## remove what was built
	rm -rf $(VENV) site build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(RECORDS) report.html
