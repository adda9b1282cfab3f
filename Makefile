# On a fresh machine with Python 3.11 or newer, each of these targets sets up what it needs by itself.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORES ?= 2
# Tests wait for browsers, servers and Spark about a fifth of their time: more processes than there are cores.
TESTERS ?= 4
CONSTRAINTS ?= constraints.txt
# Modules are compiled when they are first imported: most of the installed ones never are.
INSTALL := install --quiet --disable-pip-version-check --no-compile

# Some images forbid Python to write bytecode. Then every process compiles every module that it imports, anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types kernels check clean benchmarks

demo: $(VENV)/.installed
	$(BIN)/polyveil demo --overwrite

# Kernels are compiled once and not by every process of the tests that comes upon them: while pip unpacks what only
# the tests need, and beside the linters.
test:
	$(MAKE) -j $(CORES) lint types kernels
	$(MAKE) check

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

kernels: $(VENV)/.installed
	$(BIN)/polyveil warmup

# Tables of tests are small: threads that wait for each other would take half of the time.
check: $(VENV)/.installed-dev
	POLARS_MAX_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(TESTERS) --dist worksteal

# The newest pip unpacks a third quicker than the one that venv would take three seconds to put there.
$(VENV)/bin/python:
	{ $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $@ $(INSTALL) pip; } || \
	$(PYTHON) -m venv $(VENV) || \
	{ echo "Python's venv module is missing: on Debian, apt-get install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(BIN)/python -m pip $(INSTALL) -c $(CONSTRAINTS) -e .
	touch $@

# The package itself is there already and stays as it is, since kernels may be compiling.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip $(INSTALL) -c $(CONSTRAINTS) "polyveil[dev]"
# anonymeter demands older versions of NumPy and pyarrow than it needs; where it cannot be had, its tests are skipped.
	-$(BIN)/python -m pip $(INSTALL) --no-deps anonymeter==1.1.0
	touch $@

clean:
	rm -rf $(VENV) polyveil-demo .mypy_cache .ruff_cache .pytest_cache

.PHONY: docs
docs: $(VENV)/.installed-dev
	$(BIN)/python tools/docs/pictures.py
	$(BIN)/python tools/docs/reference.py
	$(BIN)/python tools/docs/schemas.py
	$(BIN)/zensical build

# The papers' evaluations with our methods; each writes its page and plots under docs/experiments.
PAPERS := wang2018 xiao2020 roy2014 bagai2023 han2013 as_printed

.PHONY: experiments
experiments: $(VENV)/.installed-dev
	for paper in $(PAPERS); do $(BIN)/python experiments/$$paper.py || exit 1; done
