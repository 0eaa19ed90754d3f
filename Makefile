# Everything a developer or a new user runs. Each target builds the virtual environment it needs.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FLINK := .venv-flink
FLINK_HOME := $(FLINK)/lib/$(notdir $(PYTHON))/site-packages/pyflink

.PHONY: venv demo test test-backends test-browser lint bench docs flink-loop testbed testbed-short testbed-flink harden clean

venv: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-backends: $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[ray,dask]'
	$(BIN)/python -m pytest tests/test_backends.py

test-browser: $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[browser]'
	$(BIN)/python -m pytest tests/browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks.speed

docs: $(READY)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/index.html"

$(FLINK)/.ready:
	$(PYTHON) -m venv $(FLINK)
	$(FLINK)/bin/python -m pip install -q --disable-pip-version-check apache-flink==2.3.0
	touch $@

flink-loop: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/loop.py $(FLINK_HOME)

testbed-short: $(READY)
	$(BIN)/python -m benchmarks.testbed short

testbed: $(READY)
	$(BIN)/python -m benchmarks.testbed tables
	$(BIN)/python -m benchmarks.testbed campaign
	$(BIN)/python -m benchmarks.testbed report

testbed-flink: $(READY) $(FLINK)/.ready
	PYTHONPATH=examples/flink $(BIN)/python -m benchmarks.testbed.flink $(FLINK_HOME)

harden: $(READY)
	$(BIN)/python -m benchmarks.hardening all
	$(BIN)/python -m benchmarks.hardening report

clean:
	rm -rf $(VENV) $(FLINK) flink-loop testbed site build dist demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
