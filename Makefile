# make demo    a robot arm, from its URDF to verified hardware, in minutes
# make fast    the tests that take less than a second, for while one writes: a minute or two
# make test    style, types and all tests but the longest: some ten minutes on two cores
# make test-all  the longest, half an hour more: with make test, every test
# make bench   the long measurements
# make docs    docs/ as a site, build/docs/index.html; a warning is an error
# make pictures  draws the pictures of docs/ again
# make screenshots  what is cut, too wide or too small in docs/ as a browser shows it;  WRITE=FOLDER: pictures
# make lint    style and types only;  make format  rewrites the style
# make figures  which figures of the pages are no longer what their commands print
# make mutants  whether tests see a change in the arithmetic: hours, or a part;  FOLDER=rbdgen/rtl: there
# make durations  measures which tests make fast leaves out
# make clean   removes what was built, and .venv
#
# Each makes its own virtual environment in .venv first. Needed: Python >= 3.11, g++ and perl.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2

# Tests start hundreds of processes, and pytest rewrites what it reads: bytecode is kept
unexport PYTHONDONTWRITEBYTECODE

PY  := $(VENV)/bin/python
# Two sets of packages: what rbdgen needs to run, and what its tests need beside.
RUN := $(VENV)/.installed-run
DEV := $(VENV)/.installed-dev

PAGES := build/docs-pages

.PHONY: demo docs fast test test-all durations figures mutants bench pictures screenshots lint format clean
.DEFAULT_GOAL := demo

demo: $(RUN)
	$(PY) -m rbdgen demo

PYTEST := $(PY) -m pytest -n $(JOBS) --dist worksteal

fast: $(DEV)
	$(PYTEST) -m "not slow and not seconds"

test: lint
	$(PYTEST) -m "not slow"

test-all: $(DEV)
	$(PYTEST) -m slow

# On one core, so that no test waits for another's processes.
durations: $(DEV)
	$(PY) -m tests.durations

figures: $(DEV)
	$(PY) -m tests.figures

mutants: $(DEV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[dev,mutants]"
	$(PY) -m tests.mutants --jobs $(JOBS) $(FOLDER)

bench: $(DEV)
	$(PY) -m rbdgen bench all

docs: $(DEV)
	rm -rf $(PAGES)
	mkdir -p build
	cp -r docs $(PAGES)
	cp README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE $(PAGES)
	$(PY) -m sphinx -q -W --keep-going -b html $(PAGES) build/docs
	@echo build/docs/index.html

pictures: $(RUN)
	$(PY) -m tests.pictures

screenshots: docs
	$(PY) -m tests.screenshots $(if $(WRITE),--write $(WRITE))

lint: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(DEV)
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

clean:
	rm -rf build dist $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define install
	@echo "Installing rbdgen[$(1)] into $(VENV): a few minutes, once"
	@$(PY) -m pip install --disable-pip-version-check --quiet --editable '.[$(1)]'
	@touch $@
endef

RUN_EXTRAS := scheduling,synthesis,simulation

$(RUN): pyproject.toml | $(PY)
	$(call install,$(RUN_EXTRAS))

$(DEV): pyproject.toml | $(PY)
	$(call install,dev)

define require
	@$(1) >/dev/null 2>&1 || { echo "rbdgen: $(2)" >&2; exit 1; }
endef

$(PY):
	$(call require,$(PYTHON) -c 'import sys; assert sys.hexversion >= 0x030B0000',$(PYTHON) is not Python 3.11 or later; set PYTHON=/path/to/python3)
	$(call require,$(PYTHON) -c 'import ensurepip; import venv',$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv)
	$(call require,command -v g++,no g++; simulation compiles with it. On Debian: apt install g++)
	$(call require,command -v perl,no perl; Verilator needs it. On Debian: apt install perl)
	@$(PYTHON) -m venv $(VENV)
