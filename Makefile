# Everything a fresh machine needs is Python 3.11 (or newer) and make: each target first makes the
# environment it runs in. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# The one torch release that tests and benchmarks run on; the package itself takes a range.
TORCH := torch==2.13.0
TENSORFLOW := 2.21.0
TENSORFLOW1 := 1.15.0

# The first interpreter that is new enough and can make environments.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
    if "$$p" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
    then command -v "$$p"; break; fi; done)
# TensorFlow 1.15 was never built for a newer Python than 3.7. Looked for only when it is wanted.
PYTHON37 ?= $(shell for p in python3.7 "$$(pyenv root 2>/dev/null)"/versions/3.7*/bin/python; do \
    if "$$p" -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 7))' 2>/dev/null; \
    then command -v "$$p"; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
# On a terminal pip shows how far its downloads are: the first time they are gigabytes.
PIP_INSTALL := -m pip install --disable-pip-version-check $(if $(MAKE_TERMOUT),,--quiet)

# Stamps: an environment is made again only when what it holds has changed.
INSTALLED := $(VENV)/.installed
PEERS := .venv-peers/.installed-tensorflow-$(TENSORFLOW)
TF115 := .venv-tf115/.installed-tensorflow-$(TENSORFLOW1)

# Test workers: `make test WORKERS=0` runs in one process (needed for a debugger). Else three for
# `test`, some of whose tests wait (on two cores 413 s, with two workers 524), two for `test-long`.
WORKERS ?=
# What each name lowers kernels to, for `test`, `test-long` and `conformance`: as on a processor that
# has no more. `make test ISA=avx2 THREADS=2`; without them the processor's own, and a thread a worker.
ISA ?=
THREADS ?=
ISA_avx2 := ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2
ISA_default := ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_ENABLE_INSTRUCTIONS=SSE4_2
LOWERED = $(if $(ISA),$(or $(ISA_$(ISA)),$(error ISA is avx2 or default, not $(ISA)))) \
    $(if $(THREADS),OMP_NUM_THREADS=$(THREADS))
# `make test-long TURN=2/5` runs the second of five turns of the long tests.
TURN ?=
# Extra arguments: of the demo for `demo`, of pytest for `test` and `test-long`, and of the
# runners for `bench` and `conformance`.
ARGS ?=
CASES ?=
# How long `make chaos` runs, and its dice.
MINUTES ?= 30
SEED ?= 1

# Rooms whose long tests start processes of their own and wait for them: not beside others.
ALONE := benchmarks cluster/distributed cluster/launch \
    $(addprefix training/,data distribute estimator monitored)

.PHONY: help venv demo test test-long chaos lint types bench products docs packages peers tf115 browser frontends conformance clean distclean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  \1\t/' | expand -t 16

venv: $(INSTALLED)  ## make .venv with Penstock, the demo's and the developers' packages

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv found; say PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV) with $(PYTHON)"; "$(PYTHON)" -m venv $(VENV); }
	@echo "installing $(TORCH) and penstock[demo,dev] into $(VENV) (minutes the first time)"
	@$(BIN)/python $(PIP_INSTALL) $(TORCH)
	@# A path, not a finder: beside a clone called penstock a script would find that folder first.
	@$(BIN)/python $(PIP_INSTALL) --config-settings editable_mode=compat -e '.[demo,dev]'
	@touch $@

demo: venv  ## train a convolutional classifier on handwritten digits (ARGS="--help")
	@$(BIN)/python examples/digits.py $(ARGS)

test: venv  ## the test suite and every doctest (ARGS, WORKERS, ISA, THREADS)
	$(LOWERED) $(BIN)/python -m pytest -n $(or $(WORKERS),3) --doctest-modules --doctest-glob='*.md' \
	    tests penstock docs README.md $(ARGS)

test-long: venv  ## the tests that take minutes; TURN=2/5: a part of them
	@failed=0; \
	for part in "-n $(or $(WORKERS),2) --dist loadfile tests $(ALONE:%=--ignore=tests/%)" \
	    "$(ALONE:%=tests/%)"; do \
	    status=0; $(LOWERED) $(BIN)/python -m pytest -m long --timeout 900 $(TURN:%=--turn %) \
	        $$part $(ARGS) || status=$$?; \
	    if test $$status -ne 0 && test $$status -ne 5; then failed=$$status; fi; \
	done; exit $$failed

chaos: venv  ## a cluster that trains among faults of every kind (MINUTES=30, SEED=1)
	@$(BIN)/python -m tests.cluster.distributed.chaos --minutes $(MINUTES) --seed $(SEED) $(ARGS)

lint: venv  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .

types: venv  ## mypy, strict outside penstock/ops
	$(BIN)/mypy

peers: $(PEERS)  ## make .venv-peers: TensorFlow 2.x, JAX and torch to measure and compare with

$(PEERS):
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv found; say PYTHON=/path/to/python" >&2; exit 1; }
	@test -x .venv-peers/bin/python || "$(PYTHON)" -m venv .venv-peers
	@echo "installing TensorFlow $(TENSORFLOW), JAX and $(TORCH) into .venv-peers (minutes the first time)"
	@.venv-peers/bin/python $(PIP_INSTALL) $(TORCH)
	@.venv-peers/bin/python $(PIP_INSTALL) tensorflow-cpu==$(TENSORFLOW) tf_keras jax jaxlib pillow
	@.venv-peers/bin/python $(PIP_INSTALL) --no-deps tensorflow-serving-api==$(TENSORFLOW)
	@touch $@

# Stays a phony target with its own test, so that "skipped" is said again each time.
tf115:  ## make .venv-tf115: TensorFlow 1.15, where a Python 3.7 is found
	@if test -e $(TF115); then exit 0; fi; \
	if test -z "$(PYTHON37)"; then \
	    echo "tf115: skipped, no Python 3.7 found (TensorFlow 1.15 needs it; say PYTHON37=/path)"; exit 0; \
	fi; \
	test -x .venv-tf115/bin/python || "$(PYTHON37)" -m venv .venv-tf115; \
	echo "installing TensorFlow $(TENSORFLOW1) into .venv-tf115"; \
	.venv-tf115/bin/python $(PIP_INSTALL) tensorflow-cpu==$(TENSORFLOW1) 'protobuf<3.21'; \
	touch $(TF115)

browser:  ## headless Chromium for the TensorBoard test, where apt-get may install it
	@if command -v chromium chromium-browser google-chrome >/dev/null; then exit 0; fi; \
	if test "$$(id -u)" -ne 0 || ! command -v apt-get >/dev/null; then \
	    echo "browser: skipped, no Chromium found and no right to install it"; exit 0; \
	fi; \
	echo "installing Chromium (a minute)"; \
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; } >/dev/null \
	    || echo "browser: skipped, apt-get could not install chromium"

frontends:  ## what the front end for Node needs (frontends/node), where npm is found
	@if ! command -v npm >/dev/null; then echo "frontends: skipped, no npm found"; exit 0; fi; \
	cd frontends/node && npm install --no-audit --no-fund --no-package-lock --silent

bench: venv peers tf115  ## Penstock and its peers side by side (CASES=name,..., BUSY=processes)
	@$(BIN)/python -m benchmarks $(if $(BUSY),--busy $(BUSY)) $(if $(CASES),--cases $(CASES)) $(ARGS)
	@$(if $(CASES),true,$(BIN)/python -m benchmarks.cluster $(if $(BUSY),--busy $(BUSY)))
	@$(if $(CASES)$(BUSY),true,$(BIN)/python -m benchmarks.kernels)
	@$(if $(CASES)$(BUSY),true,$(BIN)/python -m benchmarks.programs)

products: venv  ## are the kernels chosen for matrix products the fastest (ISA, THREADS)
	$(LOWERED) $(BIN)/python -m benchmarks.products $(ARGS)

conformance: venv peers tf115  ## every op, and programs of control flow, against TensorFlow
	@$(LOWERED) $(BIN)/python -m tests.conformance $(ARGS)

docs: venv  ## the site of these pages and of every public name, in build/site
	@$(BIN)/python docs/build_site.py $(ARGS)

packages: venv  ## packages of TensorFlow 1's time from the index, and the tests they ship
	@$(BIN)/python -m tests.packages $(ARGS)

clean:  ## remove caches and outputs
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist runs benchmarks/results *.egg-info
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

distclean: clean  ## and the environments
	rm -rf .venv .venv-peers .venv-tf115 .packages
