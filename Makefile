# Two commands are enough on a fresh machine: `make demo` and `make test`. No root is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-oldest soak hostile fuzz check wheels clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/crokinole demo $(DEMO_ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Forty evenings at real processes that are killed, for about ten minutes.
soak: $(VENV)/.dev
	CROKINOLE_SOAK_SEEDS=40 $(BIN)/python -m pytest -n auto tests/soak $(PYTEST_ARGS)

# Hundreds of games at fact level with hostile players and poor sensors, for some minutes.
hostile: $(VENV)/.dev
	CROKINOLE_HOSTILE_GAMES=300 $(BIN)/python -m pytest -n auto tests/hub/test_hostile.py $(PYTEST_ARGS)

# Every decoder of the hub for a minute, guided by what it reaches; atheris has wheels for Linux on x86-64 alone.
fuzz: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check 'atheris>=3'
	$(BIN)/python -m tests.hub.fuzz -max_total_time=60 -max_len=4000 $(FUZZ_ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Raspberry Pi OS Bookworm brings numpy 1.24, OpenCV 4.6 and Pillow 9.4 from apt: everything that uses them.
test-oldest: $(VENV)-oldest/.done
	$(VENV)-oldest/bin/python -m pytest -q -n auto --dist worksteal tests/camera tests/twin/test_optics*.py \
	  tests/twin/test_process.py --ignore tests/camera/test_bench_vision.py

$(VENV)-oldest/.done: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)-oldest
	grep -viE '^(numpy|opencv-python-headless|pillow)==' requirements.lock > $(VENV)-oldest/rest.lock
	$(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check -c $(VENV)-oldest/rest.lock -e '.[dev]' \
	  numpy==1.24.2 opencv-python-headless==4.6.0.66 pillow==9.4.0
	@touch $@

wheels: $(VENV)/.dev
	$(BIN)/python .ci/check_wheels.py

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "needs Python 3.11 or newer as '$(PYTHON)': apt install python3 (or make PYTHON=...)"; exit 3; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "needs the package python3-venv: apt install python3-venv"; exit 3; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml requirements.lock | $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[dev,bench]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) $(VENV)-oldest build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
