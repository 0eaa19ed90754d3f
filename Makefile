# Everything that a developer or a new user runs. Each target creates the virtual environment that it needs.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FLINK := .venv-flink
FLINK_HOME := $(FLINK)/lib/$(notdir $(PYTHON))/site-packages/pyflink
SUPPLY := .venv-supply
RAY := .venv-ray
PART ?= 1/1# of the files with long tests
INSTALL := -m pip install -q --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes --no-deps --only-binary :all: -r

.PHONY: venv demo test test-long test-all test-backends test-browser test-fuzz lint bench docs kernels flink-loop flink-cluster flink-failures flink-size flink-watch flink-contention flink-rivals ray-loop testbed testbed-short testbed-dag testbed-latency testbed-flink audit locks release clean

venv: $(READY)

$(READY): pyproject.toml locks/dev.txt locks/torch.txt locks/install_torch.py
	@$(PYTHON) -c 'import sys; sys.exit("streamplace needs Python 3.11 or newer; this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(LOCKED) locks/dev.txt
	$(BIN)/python locks/install_torch.py # the CPU build, with hashes, where an index offers it
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation -e .
	$(BIN)/python -m streamplace.sim.kernels
	touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

test: kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long"

test-long: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "long and not alone" --part $(PART)
	$(BIN)/python -m pytest -m alone --part $(PART) || [ $$? = 5 ] # 5: the part has no such tests

test-all: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not alone" --share 1
	$(BIN)/python -m pytest -m alone --share 1

test-backends: $(READY)
	$(BIN)/python $(LOCKED) locks/ray.txt -r locks/dask.txt
	$(BIN)/python -m pytest tests/execution/test_backends.py tests/execution/test_machines.py

test-browser: $(READY)
	$(BIN)/python $(LOCKED) locks/browser.txt
	$(BIN)/python -m pytest tests/browser

kernels: $(READY) # compiles those that have changed; without it, each is compiled where it is first used
	$(BIN)/python -m streamplace.sim.kernels

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks.speed

docs: $(READY)
	$(BIN)/python $(LOCKED) locks/docs.txt
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict # prints warnings, and fails on them
	@echo "site/index.html"

$(FLINK)/.ready: locks/flink.txt locks/flink-build.txt # flink-build: what some packages of flink need to be built
	$(PYTHON) -m venv $(FLINK)
	$(FLINK)/bin/python $(LOCKED) locks/flink-build.txt
	$(FLINK)/bin/python $(INSTALL) --require-hashes --no-build-isolation -r locks/flink.txt
	touch $@

flink-loop: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/loop.py $(FLINK_HOME)
	$(BIN)/python examples/flink/apply_loop.py $(FLINK_HOME)
	$(BIN)/python examples/flink/sql_loop.py $(FLINK_HOME)

flink-cluster: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/cluster.py $(FLINK_HOME)

flink-failures: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/failures.py $(FLINK_HOME)

flink-watch: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/watch_loop.py $(FLINK_HOME)

flink-size: $(READY) $(FLINK)/.ready
	$(BIN)/python examples/flink/size_loop.py $(FLINK_HOME)

flink-contention: $(READY) $(FLINK)/.ready
	PYTHONPATH=examples/flink $(BIN)/python -m benchmarks.contention $(FLINK_HOME)

flink-rivals: $(READY) $(FLINK)/.ready # AUTOSCALER: folder with the jars of Flink's autoscaler; TRACES: files of recorded loads
	PYTHONPATH=examples/flink $(BIN)/python -m benchmarks.rivals $(FLINK_HOME) $(if $(AUTOSCALER),--autoscaler $(AUTOSCALER)) $(if $(TRACES),--traces $(TRACES))

$(RAY)/.ready: locks/ray-cluster.txt
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python $(LOCKED) locks/ray-cluster.txt
	touch $@

ray-loop: $(READY) $(RAY)/.ready
	PYTHONPATH=examples/ray:examples/flink $(BIN)/python -m benchmarks.actors $(RAY)

testbed-short: $(READY)
	$(BIN)/python -m benchmarks.testbed short

testbed: $(READY)
	$(BIN)/python -m benchmarks.testbed tables
	$(BIN)/python -m benchmarks.testbed campaign
	$(BIN)/python -m benchmarks.testbed report

testbed-dag: $(READY)
	$(BIN)/python -m benchmarks.testbed.passes campaign --or-skip

testbed-latency: $(READY)
	$(BIN)/python -m benchmarks.testbed.latency campaign --or-skip

testbed-flink: $(READY) $(FLINK)/.ready
	PYTHONPATH=examples/flink $(BIN)/python -m benchmarks.testbed.flink $(FLINK_HOME)

test-fuzz: $(READY)
	$(BIN)/python $(LOCKED) locks/fuzz.txt -r locks/partitioners.txt
	FUZZED_PART=$(PART) $(BIN)/python -m pytest -n 2 tests/hardening/test_fuzzing.py

$(SUPPLY)/.ready: locks/supply.txt
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python $(LOCKED) locks/supply.txt
	touch $@

audit: $(SUPPLY)/.ready
	for lock in locks/*.txt; do $(SUPPLY)/bin/pip-audit --strict --require-hashes --disable-pip -r $$lock || exit 1; done

locks: $(READY) $(SUPPLY)/.ready
	$(BIN)/python -m benchmarks.supply.locks
	$(BIN)/python -m benchmarks.supply.licences

release: $(READY)
	$(BIN)/python -m benchmarks.supply.release

clean:
	rm -rf $(VENV) $(FLINK) $(SUPPLY) $(RAY) flink-loop ray-loop testbed site build dist demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
