# make run    sets everything up and searches; another command: make run ARGS='search -n 3 rust async'
# make test   sets everything up and runs the tests; a part of them: make test ARGS='tests/providers -k brave'
# make lint   ruff, mypy, import-linter
# make docs   regenerates completions, man pages, command reference and pictures
# make bench  races sleuth against its peers on a loopback server
# make fuzz   feeds every parser with hostile input, five minutes each; one of them: make fuzz TARGET=citations SECONDS=900
# make adversarial  attacks every promise of SECURITY.md at length
# Needs python3 (3.11+) and nothing else; uv is used when it is there.

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
PO := $(wildcard cli/sleuth/base/locale/*/LC_MESSAGES/sleuth.po)
MO := $(PO:.po=.mo)

.PHONY: run test lint docs bench fuzz adversarial constraints clean

run: $(VENV)/run.stamp
	@$(BIN)/sleuth $(or $(ARGS),$(SEARCH))

test: $(VENV)/dev.stamp $(MO)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check cli providers tools tests bench docs
	$(BIN)/ruff format --check cli providers tools tests bench docs
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp
	$(BIN)/python -m tools.generate
	$(BIN)/python docs/pictures/draw.py

bench: $(VENV)/dev.stamp
	$(BIN)/python bench/race.py $(ARGS)

# Where atheris cannot be had, cases are made without knowing what they reach.
fuzz: $(VENV)/dev.stamp
ifdef UV
	@test -d $(ATHERIS) || uv pip install --quiet --python $(BIN)/python --target $(ATHERIS) atheris==3.0.0 || true
else
	@test -d $(ATHERIS) || $(BIN)/python -m pip install -qq --disable-pip-version-check --target $(ATHERIS) atheris==3.0.0 || true
endif
	PYTHONPATH=$(ATHERIS) $(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(TARGET)

adversarial: $(VENV)/dev.stamp
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

# An install compiles the message catalogues; this does so after one was edited.
%.mo: %.po $(VENV)/dev.stamp
	@$(BIN)/python -m tools.messages --compile

# Pins anew what pyproject.toml asks for.
constraints:
	$(PYTHON) -m venv .cache/pin && .cache/pin/bin/python -m pip install --quiet uv
	sh .ci/pin .cache/pin/bin/uv

clean:
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
