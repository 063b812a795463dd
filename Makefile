# Everything goes through .venv; each target does the set-up that it needs.
SHELL := /bin/sh
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Two test processes: the suite is made for a machine with two cores.
PYTEST_WORKERS ?= 2

.PHONY: help setup run test lint check bench lock format

help: ## Show the targets.
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

setup: .venv/.runtime ## Make .venv with the pinned dependencies and the command .venv/bin/vernier.

.venv/.python: scripts/find-python.sh
	python=$$(scripts/find-python.sh) && "$$python" -m venv .venv
	touch $@

.venv/.runtime: .venv/.python requirements/runtime.txt pyproject.toml
	$(PIP) install --require-hashes --requirement requirements/runtime.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

.venv/.dev: .venv/.runtime requirements/dev.txt
	$(PIP) install --require-hashes --requirement requirements/dev.txt
	touch $@

run: .venv/.runtime ## Start the server with ./vernier-data on http://127.0.0.1:8000, or on BIND=host:port.
	exec $(BIN)/vernier serve $(if $(BIND),--bind $(BIND))

test: .venv/.dev ## Run every test.
	scripts/test-tools.sh
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup

lint: .venv/.dev ## Style, types, layers, registry host names, missing migrations.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	scripts/lint-hosts.sh
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m django makemigrations --check --dry-run --pythonpath .

format: .venv/.dev ## Lay the code out.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: lint test ## What CI runs.

bench: .venv/.dev ## Measure; prints ratios of paired runs.
	$(BIN)/python -m bench

lock: .venv/.dev ## Pin the dependencies anew, with hashes (needs uv).
	uv pip compile --quiet --generate-hashes --universal --no-header --no-annotate --no-emit-index-url \
		--python-version 3.12 pyproject.toml requirements/build.in --output-file requirements/runtime.txt
	uv pip compile --quiet --generate-hashes --universal --no-header --no-annotate --no-emit-index-url \
		--python-version 3.12 pyproject.toml requirements/build.in --group dev --output-file requirements/dev.txt
