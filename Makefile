# `make demo` and `make test` do all their own set-up: a virtual environment in .venv with pinned requirements, and the
# extension module built in release mode. Needs Rust, Python 3.11 or later with venv, and a C++ compiler.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name '*.toml')

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1@\2/p' Makefile | column -t -s @

demo: $(VENV)/demo.stamp $(VENV)/package.stamp ## classify a real data set under encryption, on the CPU and the ring machine
	@$(BIN)/python examples/01_logistic_regression.py

test: lint $(VENV)/test.stamp $(VENV)/package.stamp ## everything continuous integration runs
	@cargo test --workspace --locked --quiet
	@$(BIN)/pytest

full: test ## `make test`, the slow tests too, every fuzz target for a minute where cargo-fuzz is installed
	@cargo test --workspace --release --locked --quiet -- --include-ignored
	@$(BIN)/pytest -m slow
	@if cargo fuzz --version >/dev/null 2>&1; then fuzz/run 60; else echo "cargo-fuzz is not installed: fuzz targets not run"; fi

bench: $(VENV)/test.stamp $(VENV)/package.stamp ## side by side with SEAL on this computer
	@$(BIN)/python benches/seal_ckks.py

lint: $(VENV)/test.stamp ## formatting and lints of all sources, nothing allowed
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

clean: ## remove everything that was built
	@rm -rf target $(VENV) python/ringmill/*.so

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ringmill needs Python 3.11 or later")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/%.stamp: requirements/%.txt requirements/demo.txt | $(BIN)/python
	@echo "installing requirements/$*.txt into $(VENV)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/package.stamp: $(RUST) | $(VENV)/demo.stamp
	@echo "building the package in release mode"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

.PHONY: help demo test full bench lint clean
