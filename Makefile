# Two commands to start with: `make run` and `make test`. Both build .venv; they need python3.11 or newer, pip and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DOCS   := $(VENV)/.docs-installed
RELEASE := $(VENV)/.release-installed

# `make run`: five tasks, three seeds; about two minutes on two cores. Runs that have a record are not repeated.
TASKS   := er-single er-multi sbm-20 sbm-14-20 sbm-20-30
RECORDS := results/quick
WORKERS ?= 2
SEEDS   ?= 3

.DEFAULT_GOAL := help
.PHONY: help run test fuzz crash-test lint format bench results docs release clean league

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "anysize needs Python 3.11 or newer; call make with PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: $(STAMP)    ## train, print tables 1 and 2 beside the published numbers, write report.html
	$(BIN)/anysize paper sweep $(TASKS) --grid quick --seeds $(SEEDS) --workers $(WORKERS) --records $(RECORDS)
	$(BIN)/anysize paper sweep $(filter sbm%,$(TASKS)) --methods gamma-gin,gamma-rpgin --recipe robust \
		--seeds $(SEEDS) --workers $(WORKERS) --records $(RECORDS)
	$(BIN)/anysize paper table 1 --records $(RECORDS) --tasks er-single,er-multi --splits test
	$(BIN)/anysize paper table 2 --records $(RECORDS) --splits test
	$(BIN)/anysize paper report --records $(RECORDS) --out report.html

test: $(STAMP)   ## run every test, one process per core
	$(BIN)/python -m pytest -n auto --dist worksteal

fuzz: N ?= 20000
fuzz: $(STAMP)   ## attack every reader and loader with N odd inputs, and print a tally
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --n $(N)

crash-test: N ?= 100
crash-test: $(STAMP) ## kill sweeps, counts, streams, fits and reports N times, and check what is left
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.crash --n $(N)

lint: $(STAMP)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## let ruff reformat the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## time counting against igraph and networkx, training against plain PyG
	$(BIN)/python -m benchmarks.counting
	$(BIN)/python -m benchmarks.learning --quick
	$(BIN)/python -m benchmarks.baselines --quick

results: $(STAMP) ## docs/results.md, its appendix, tables and figures of README.md and of the page on ties, from results/records
	$(BIN)/anysize paper results --records results/records --out docs/results.md \
		--appendix docs/results-appendix.md --readme README.md --ties docs/why-published-numbers-differ.md
	$(BIN)/python examples/draw_results.py results/records docs/figures/results.svg
	$(BIN)/python examples/draw_ties.py results/records docs/figures/ties.svg

# Trains what has no record where DATA names folders or sets, e.g. make league DATA="sets more-sets" PARTS=up.
SUBSETS ?= 5
TARGETS ?= 2
league: $(STAMP) ## docs/league.md and its figures, from results/league
	$(BIN)/anysize league $(DATA) $(if $(PARTS),--parts $(PARTS)) --seeds $(SUBSETS) --max-targets $(TARGETS) \
		--records results/league --workers $(WORKERS) \
		--out docs/league.md --figure docs/figures/league.svg

$(DOCS): pyproject.toml constraints.txt | $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(DOCS)    ## build the manual in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(RELEASE): pyproject.toml constraints.txt | $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[release]'
	@touch $@

release: $(RELEASE) ## build sdist and wheel in dist/, check them, and try the wheel in fresh environments
	$(BIN)/python -m tools.release

clean:           ## remove everything that was built
	rm -rf $(VENV) site build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(RECORDS) report.html
