# The course's commands. `make` lists them. Without make: the README has the same steps for `py -m`.

PYTHON ?= python3
# One more than two cores have: tests of ranks and of the browser mostly wait.
WORKERS ?= 3
LESSON ?=
ARGS ?=
DRAW ?=

ifeq ($(OS),Windows_NT)
RUN := .venv/Scripts/python
else
RUN := .venv/bin/python
endif
STAMP := .venv/.installed
DEV_STAMP := .venv/.installed-dev
COMPILE_STAMP := .venv/.installed-compile

.DEFAULT_GOAL := help
.PHONY: help lab test test-all test-compiled grade build check-sync mutants lint fix bench house gpu

help:  ## list these targets
	@echo "make lab         open JupyterLab at lesson 00 (LESSON=01 opens another)"
	@echo "make grade       grade your answers in puzzles/ (ARGS='--only guard' picks some)"
	@echo "make test        lint, check-sync and every test"
	@echo "make test-all    the same, and all of the long series of which make test runs a part"
	@echo "make test-compiled  the tests that need NVIDIA's compiler: no GPU, but 205 MB to install"
	@echo "make build       rebuild stubs and notebooks from solutions/ and notebooks/source/"
	@echo "make check-sync  compare what is committed with a fresh build"
	@echo "make mutants     break every solution in small ways; the grader must see each one"
	@echo "make lint        ruff and mypy"
	@echo "make fix         mend what ruff can mend, and what is generated into CONTRIBUTING.md"
	@echo "make bench       how long checks and lessons take; the simulator next to Numba's (minutes)"
	@echo "make house       how large the rooms of the code are, and in how many places one idea lies"
	@echo "make gpu         on a machine with an NVIDIA GPU: what it really does, into benchmarks/records"
	@echo ""
	@echo "Each makes .venv and installs what it needs first: requirements.txt for lab and grade,"
	@echo "requirements-dev.txt for the others, and requirements-compile.txt for test-compiled. make gpu installs nothing: it takes .venv or PYTHON as it is."
	@echo "PYTHON=python3.13 picks the Python for a new .venv."

lab: $(STAMP)
	$(RUN) -m gpu_course lab $(LESSON) $(ARGS)

grade: $(STAMP)
	$(RUN) -m gpu_course grade $(ARGS)

# Many tests start a Python of their own, and each would compile the course anew. Files come in the
# order of tests/conftest.py: the longest first, so that no worker is left alone with one.
test: export PYTHONDONTWRITEBYTECODE =
test: export GPU_COURSE_DRAW = $(DRAW)
test: lint check-sync
	$(RUN) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Only the tests that make test leaves out where the extra is not installed; see tests/conftest.py.
test-compiled: export PYTHONDONTWRITEBYTECODE =
test-compiled: $(COMPILE_STAMP)
	$(RUN) -m pytest -m compiler -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests $(ARGS)

test-all: export GPU_COURSE_TESTS = all
test-all: test

build: $(DEV_STAMP)
	$(RUN) -m authoring build

check-sync: $(DEV_STAMP)
	$(RUN) -m authoring check-sync

mutants: $(DEV_STAMP)
	$(RUN) -m authoring mutants $(ARGS)

lint: $(DEV_STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

fix: $(DEV_STAMP)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .
	$(RUN) -m authoring map

house: $(DEV_STAMP)
	$(RUN) -m benchmarks.house $(ARGS)

bench: $(DEV_STAMP)
	$(RUN) -m benchmarks.waiting.checks
	$(RUN) -m benchmarks.waiting.stepping
	$(RUN) -m benchmarks.waiting.pictures
	$(RUN) -m benchmarks.waiting.pipeline_board
	$(RUN) -m benchmarks.searches.rotor
	$(RUN) -m benchmarks.searches.schedules
	$(RUN) -m benchmarks.searches.pipelines
	$(RUN) -m benchmarks.waiting.lessons
	$(RUN) -m benchmarks.waiting.ranks
	$(RUN) -m benchmarks.simulated.launches
	$(RUN) -m benchmarks.simulated.ragged
	$(RUN) -m benchmarks.waiting.compiling
	$(RUN) benchmarks/simulator.py $(ARGS)

# It may be a borrowed machine without a network, so nothing is installed.
gpu:
	@$(if $(wildcard $(RUN)),$(RUN),$(PYTHON)) -m benchmarks.gpu $(ARGS)

# A stamp is younger than the files that say what to install, or it is made anew.
$(STAMP): requirements.txt pyproject.toml simt/pyproject.toml install.py
	@$(PYTHON) -c "import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 15) else 'the course needs Python 3.11 to 3.14, and $(PYTHON) is %d.%d; try make PYTHON=python3.13' % v)"
	@test -x $(RUN) || $(PYTHON) -m venv .venv
	$(RUN) install.py
	@touch $(STAMP)

$(DEV_STAMP): $(STAMP) requirements-dev.txt
	$(RUN) install.py requirements-dev.txt
	@touch $(DEV_STAMP)

$(COMPILE_STAMP): $(DEV_STAMP) requirements-compile.txt
	$(RUN) install.py requirements-compile.txt
	@touch $(COMPILE_STAMP)
