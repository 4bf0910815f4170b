# fiador: everything a newcomer types. Needs Python 3.11 or newer, make and a package registry.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: install demo test lint bench golden clients fire real-model clean

.venv/run.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install -e '.[model]'
	@touch $@

.venv/dev.stamp: .venv/run.stamp pyproject.toml
	$(PIP) install -e '.[dev]'
	@touch $@

install: .venv/dev.stamp  ## prepare .venv for developing

demo: .venv/run.stamp  ## a guarded conversation with the sample corpus
	$(BIN)/fiador demo

test: .venv/dev.stamp  ## the whole test suite
	$(BIN)/python -m pytest

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev.stamp
	$(BIN)/python -m bench

golden: .venv/dev.stamp  ## the golden sets, with the real model and with a stand-in
	$(BIN)/fiador model
	$(BIN)/fiador -c config/sample/fiador.toml eval golden/sets
	$(BIN)/fiador -c config/sample/fiador.toml eval golden/sets --embedding stand-in

clients: .venv/dev.stamp  ## real OpenAI clients against the demo server (installs them on first use)
	$(BIN)/python -m tests.clients

fire: .venv/dev.stamp  ## the fault tests in full
	FIADOR_FIRE=1 $(BIN)/python -m pytest tests/fire

real-model: .venv/dev.stamp  ## a small disobedient model on llama.cpp behind the proxy (installs it on first use)
	$(BIN)/python -m bench real_model

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache dist build
