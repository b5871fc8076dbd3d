# Daily work; .ci/run does the whole.
PYTHON ?= .venv/bin/python

.PHONY: install check lint types test versions cover bench

install:
	python3 -m venv .venv
	$(PYTHON) -m pip install --quiet -c constraints.txt -e ".[plot,test,dev,bench]"

check: lint types test

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

test:
	$(PYTHON) -m pytest -m "not slow" -n 3

# The lowest and the newest versions that are allowed, and other interpreters: more than an hour on two busy cores.
versions:
	bash .ci/versions

cover:
	$(PYTHON) -m pytest --cov --cov-report=term-missing:skip-covered

bench:
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest benchmarks --benchmark-only
