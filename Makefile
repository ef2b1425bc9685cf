# `make demo` trains CoachAgent on the embedded phone; `make test` runs every check. Both set up .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# one thread a process: two processes of two threads on two cores run ten times slower than one of one
export OMP_NUM_THREADS := 1

.PHONY: demo test lint types unit pocket clean

demo: $(VENV)/installed
	$(BIN)/python -m benchmarks.demo

test: lint types unit

lint: $(VENV)/installed
	$(BIN)/ruff check .

# mypy looks for modules in folders, and two of ours lie beside the package: it is given one tree
types: $(VENV)/installed
	rm -rf build/types && mkdir -p build/types/coach_gym
	ln -s $(CURDIR)/coach_gym/* build/types/coach_gym/
	ln -s $(CURDIR)/agents $(CURDIR)/envs build/types/coach_gym/
	cd build/types && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/setup.cfg -p coach_gym

unit: $(VENV)/installed
	$(BIN)/python -m pytest -n 2

# remakes the pocket models from nothing (hours on a CPU; resumable)
pocket: $(VENV)/installed
	$(BIN)/python -m coach_gym.agents.pocket.train

$(VENV)/installed: setup.cfg constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build runs
