# Two entry points for a newcomer: `make demo` and `make test`. Both set up everything they need and are quick the second time.
# What a machine must have: python3 (3.11 to 3.13), pip and make. PYTHON=python3.12 chooses another interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Without it every process compiles all that it imports, again and again: seconds for Ray, a dozen for verifiers.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lock clean

help: ## say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

setup: $(READY) ## virtual environment from requirements.lock, with rlmath in it

# `venv --without-pip` works where the distribution splits ensurepip off; the machine's own pip then fills the environment.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"rlmath needs Python 3.11 to 3.13, and {sys.executable} is {v[0]}.{v[1]}: run make with PYTHON=python3.12, say")'
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@echo "installing the pinned packages (once, a minute or two)"
	@$(PYTHON) -m pip --python $(BIN)/python install --quiet --no-input --require-hashes --no-deps -r requirements.lock
	@$(PYTHON) -m pip --python $(BIN)/python install --quiet --no-input --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## score the bank of goals and recorded plans on a local Ray cluster with the embedded kernel
	@$(BIN)/rlmath eval configs/eval/demo.toml $(ARGS)

test: $(READY) ## all tests (pytest); with ARGS="tests/test_plan.py -k lemma" those
	@tests/run $(ARGS)

check: $(READY) ## lint, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

lock: ## pin the newest versions that pyproject.toml allows
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra dev --no-header --no-emit-index-url --output-file requirements.lock pyproject.toml

clean: ## remove the virtual environment and what runs left here
	@rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
