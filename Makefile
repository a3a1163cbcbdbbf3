# Needs python3 (3.11+) and nothing else; uv is used when it is installed. `make help` lists the targets.

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# One more than there are cores: a good part of the tests wait for a server that takes its time.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
ARGS ?=
TARGET ?=
SECONDS ?= 300
ATHERIS := .cache/fuzz/atheris
SEARCH = search enable json in searxng

.PHONY: help run test lint docs site bench fuzz adversarial constraints clean
.DEFAULT_GOAL := run

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf 'make %-12s %s\n' "$$name" "$$text"; done

run: $(VENV)/run.stamp ## set up and search; any command: make run ARGS='search -n 3 rust async'
	@$(BIN)/sleuth $(or $(ARGS),$(SEARCH))

test: $(VENV)/dev.stamp ## set up and run the tests; some of them: make test ARGS='tests/providers -k brave'
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/dev.stamp ## ruff, mypy and import-linter
	$(BIN)/ruff check cli providers tools tests bench docs
	$(BIN)/ruff format --check cli providers tools tests bench docs
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp ## regenerate completions, man pages, command reference and pictures
	$(BIN)/python -m tools.generate
	$(BIN)/python docs/pictures/draw.py

site: $(VENV)/dev.stamp ## build the handbook as a website in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/dev.stamp ## compare sleuth with other tools on a loopback server
	$(BIN)/python bench/race.py $(ARGS)

# Where atheris cannot be had, cases are made without knowing what they reach.
fuzz: $(VENV)/dev.stamp ## fuzz every parser for five minutes each; one: make fuzz TARGET=citations SECONDS=900
ifdef UV
	@test -d $(ATHERIS) || uv pip install --quiet --python $(BIN)/python --target $(ATHERIS) atheris==3.0.0 || true
else
	@test -d $(ATHERIS) || $(BIN)/python -m pip install -qq --disable-pip-version-check --target $(ATHERIS) atheris==3.0.0 || true
endif
	PYTHONPATH=$(ATHERIS) $(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(TARGET)

adversarial: $(VENV)/dev.stamp ## attack every guarantee of SECURITY.md, at length
	SLEUTH_LONG_TESTS=long $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/adversarial $(ARGS)

# Everything that gets installed is pinned, with hashes; the project itself is installed in place.
$(VENV)/run.stamp: constraints-run.txt pyproject.toml
	@echo "setting up $(VENV) …" >&2
ifdef UV
	@test -x $(BIN)/python || uv venv --quiet --python '>=3.11' $(VENV)
	@uv pip install --quiet --python $(BIN)/python --require-hashes -r constraints-run.txt
	@uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r constraints-run.txt
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

# Pins anew what pyproject.toml asks for.
constraints: ## pin the dependencies in pyproject.toml again, with hashes
	$(PYTHON) -m venv .cache/pin && .cache/pin/bin/python -m pip install --quiet uv
	sh .ci/pin .cache/pin/bin/uv

clean: ## delete the environment and everything that was built
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
