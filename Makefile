# `make` lists the commands. Everything that is missing is installed by the command that needs it (scripts/bootstrap.py).

SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules

PYTHON := .venv/bin/python
BOOTSTRAP := sh scripts/bootstrap.sh

# Given on the command line, and passed on through the environment exactly as typed: spaces, quotes and dollar signs included.
override FILE := $(value FILE)
override ASK := $(value ASK)
override OUT := $(value OUT)
export FILE ASK OUT JSON KEEP

.PHONY: help start stop test test-unit test-integration test-e2e test-frontend lint fmt lock demo bench clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

start: ## Start everything on this machine and print the address (Ctrl-C stops it; the data stays)
	@$(BOOTSTRAP) start
	@exec $(PYTHON) -m stack start

stop: ## Stop a running stack
	@if [ -x $(PYTHON) ]; then exec $(PYTHON) -m stack stop; else echo "nothing is installed, so nothing runs" >&2; fi

test: ## Run every suite: unit, integration, e2e (a real browser), frontend
	@$(BOOTSTRAP) test
	@exec $(PYTHON) scripts/run_suites.py unit integration e2e frontend

test-unit: ## Run the unit tests
	@$(BOOTSTRAP) start
	@exec $(PYTHON) scripts/run_suites.py unit

test-integration: ## Run the tests on real services
	@$(BOOTSTRAP) start
	@exec $(PYTHON) scripts/run_suites.py integration

test-e2e: ## Run the tests in a real browser
	@$(BOOTSTRAP) test
	@exec $(PYTHON) scripts/run_suites.py e2e

test-frontend: ## Run the page's own tests
	@$(BOOTSTRAP) lint
	@exec $(PYTHON) scripts/run_suites.py frontend

lint: ## Check style and types of everything
	@$(BOOTSTRAP) lint
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy -p app -p executor -p stack
	npm --prefix frontend run --silent lint
	npm --prefix frontend run --silent typecheck

fmt: ## Format the Python code and sort its imports
	@$(BOOTSTRAP) python
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

lock: ## Resolve the dependencies anew and write the hash-pinned locks (UPGRADE=1: to the newest versions)
	@uv=$$($(BOOTSTRAP) uv) && exec $(PYTHON) scripts/lock.py "$$uv" $(if $(UPGRADE),--upgrade)

demo: ## Ask one question: make demo FILE=sales.csv ASK="revenue by month" [OUT=folder] [JSON=1] [KEEP=1]
	@$(BOOTSTRAP) start
	@exec $(PYTHON) -m stack demo

bench: ## Measure start, first answer and memory; JSON to OUT=file or to the screen
	@$(BOOTSTRAP) start
	@exec $(PYTHON) -m stack bench

clean: ## Remove what was installed and built; DATA=1 also removes .data, with every upload and conversation
	@if [ -x $(PYTHON) ]; then $(PYTHON) -m stack stop; fi
	@if [ -n "$(DATA)" ]; then rm -rf "$$(readlink -f .data/postgres 2>/dev/null || echo .data/postgres)" .data; fi
	rm -rf .venv .tools frontend/node_modules frontend/dist test-results .pytest_cache .mypy_cache .ruff_cache .hypothesis
