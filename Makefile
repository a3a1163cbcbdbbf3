# Needs python3 (3.11+) and nothing else; uv is used when present. `make help` lists the targets.

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# One more worker than cores: many tests wait for a server.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
ARGS ?=
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
LONG_SUITES = live or adversarial or fuzz
# Folders with nothing but long tests: importing them takes as long as a third of all others.
LONG_FOLDERS = tests/live tests/adversarial tests/fuzz
TARGET ?=
SECONDS ?= 300
ATHERIS := .cache/fuzz/atheris
# Prints the packages that pip installs, one by one, and passes its exit status on.
PACKAGES = while read -r first second _; do \
	case $$first in Collecting) echo "  $$second" >&2 ;; exit) exit $$second ;; esac; done
SEARCH = search enable json in searxng
# Without bytecode, each of the thousands of processes that the tests start would compile every module.
export PYTHONDONTWRITEBYTECODE =
PO := $(wildcard cli/sleuth/base/locale/*/LC_MESSAGES/sleuth.po)
MO := $(PO:.po=.mo)

.PHONY: help run test test-long test-all test-servers lint docs site bench eval fuzz adversarial constraints clean

.DEFAULT_GOAL := help

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: $(VENV)/run.stamp ## Set up and search; another command: make run ARGS='search -n 3 rust async'
	@$(BIN)/sleuth $(or $(ARGS),$(SEARCH))

test: $(VENV)/dev.stamp $(MO) ## Set up and run the tests; some of them: make test ARGS='tests/providers -k brave'
	$(PYTEST) -m 'not ($(LONG_SUITES))' $(LONG_FOLDERS:%=--ignore=%) $(ARGS)

test-long: $(VENV)/dev.stamp $(MO) test-servers ## Run the long suites: real servers, browsers and shells, attacks, fuzzing
	$(PYTEST) -m '$(LONG_SUITES)' $(ARGS)

test-all: test test-long ## Run every test

test-servers: $(VENV)/dev.stamp ## Install the servers that the long suites run (SearXNG, llama.cpp, …)
	@$(BIN)/python -m tests.servers

lint: $(VENV)/dev.stamp ## Run ruff, mypy and import-linter
	$(BIN)/ruff check cli providers tools tests bench docs
	$(BIN)/ruff format --check cli providers tools tests bench docs
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp ## Regenerate completions, man pages, command reference and pictures
	$(BIN)/python -m tools.generate
	$(BIN)/python docs/pictures/draw.py

site: $(VENV)/dev.stamp ## Build the handbook as a website in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/dev.stamp ## Race sleuth against other tools on a loopback server
	$(BIN)/python bench/race.py $(ARGS)

eval: $(VENV)/dev.stamp ## Measure relevance on the samples in bench/data; fail if a figure of docs/relevance.md drops
	$(BIN)/python -m bench.relevance --check

# Without atheris, inputs are mutated without coverage feedback.
fuzz: $(VENV)/dev.stamp ## Fuzz every parser for SECONDS each; one of them: make fuzz TARGET=citations SECONDS=900
ifdef UV
	@test -d $(ATHERIS) || uv pip install --quiet --python $(BIN)/python --target $(ATHERIS) atheris==3.0.0 || true
else
	@test -d $(ATHERIS) || $(BIN)/python -m pip install -qq --disable-pip-version-check --target $(ATHERIS) atheris==3.0.0 || true
endif
	PYTHONPATH=$(ATHERIS):. $(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(TARGET)

adversarial: $(VENV)/dev.stamp ## Run the adversarial suite at full length, about twenty minutes
	SLEUTH_LONG_TESTS=long $(PYTEST) tests/adversarial $(ARGS)

# Dependencies are pinned with hashes; the project itself is installed in place.
$(VENV)/run.stamp: constraints-run.txt pyproject.toml
	@echo "setting up $(VENV) (about half a minute) …" >&2
ifdef UV
	@test -x $(BIN)/python || uv venv --quiet --python '>=3.11' $(VENV)
	@uv pip install --python $(BIN)/python --require-hashes -r constraints-run.txt
	@uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@{ $(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r constraints-run.txt; \
		echo "exit $$?"; } | $(PACKAGES)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
endif
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp constraints.txt
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --require-hashes -r constraints.txt
else
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r constraints.txt
endif
	@touch $@

# An install compiles the message catalogues; this does so after one was edited.
%.mo: %.po $(VENV)/dev.stamp
	@$(BIN)/python -m tools.messages --compile

constraints: ## Pin the current versions of all dependencies
	$(PYTHON) -m venv .cache/pin && .cache/pin/bin/python -m pip install --quiet uv
	sh .ci/pin .cache/pin/bin/uv

clean: ## Delete everything that make has created
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
