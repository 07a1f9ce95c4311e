# Everything works on a fresh clone with Python 3.11 or newer, make and a package registry.
# `make help` lists the targets. PYTHON names another interpreter: `make test PYTHON=python3.13`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
QUESTION ?= how do I drain a node?
export QUESTION
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-llm lint format bench bench-peers setup clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

demo: $(VENV)/.app ## install, search the handbook under examples/, show the answer (QUESTION="...")
	@printf '$$ firstlight search examples/handbook "%s" -k 3\n' "$$QUESTION" >&2
	@FIRSTLIGHT_STATE='$(CURDIR)/$(VENV)/state' $(BIN)/firstlight search examples/handbook "$$QUESTION" -k 3

test: $(VENV)/.test ## run the tests (PYTEST_ARGS="tests/cli -x" runs some of them)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-llm: $(VENV)/.test $(VENV)/.llm ## test with a real language model (downloads 253 MB)
	FIRSTLIGHT_TEST_LLM=1 $(BIN)/python -m pytest tests/digest/test_real_llm.py $(PYTEST_ARGS)

lint: $(VENV)/.lint ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint ## fix what can be fixed by a tool
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench ## measure side by side with peers, and draw the plots
	$(BIN)/python -m benchmarks all

bench-peers: ## install qmd beside the benchmarks (needs npm)
	npm install --prefix .bench/qmd @tobilu/qmd@2.8.3 node@22

setup: $(VENV)/.test $(VENV)/.lint ## install what developing needs, and the pre-commit hooks
	$(BIN)/pre-commit install

clean: ## remove the virtual environment and everything that tools left
	rm -rf $(VENV) build dist .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp file says what is installed; a change of the pins or of the project's metadata installs again.

$(VENV)/.app: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"firstlight needs Python 3.11 or newer; $(PYTHON) is {sys.version.split()[0]}: make PYTHON=python3.12")'
	@echo 'installing into $(VENV) (once)' >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt pip
	@$(PIP) install -c constraints.txt --editable .
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.llm: $(VENV)/.%: $(VENV)/.app
	@echo 'installing what make $* needs (once)' >&2
	@$(PIP) install -c constraints.txt --group $*
	@touch $@
