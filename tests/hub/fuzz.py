"""Coverage-guided fuzzing of every decoder by atheris: ``make fuzz``; options are libFuzzer's."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["hub"]):
    from tests.hub.fuzzing import one_input, seeds

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(seeds()):
            (Path(corpus) / str(number)).write_bytes(data)
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
