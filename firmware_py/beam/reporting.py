"""Between the watch and the hub: facts out, requests in."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_py.beam.watch import Watch
from firmware_py.reporter import Reporter
from hub.link.messages import BeamFault, Fact


def report_facts(reporter: Reporter, facts: Iterable[Fact]) -> None:
    """Report facts, and let faults stand in the health for as long as they last."""
    for fact in facts:
        reporter.report(fact)
        if isinstance(fact, BeamFault) and fact.over:
            reporter.well(fact.name)
        elif isinstance(fact, BeamFault):
            reporter.fault(fact.name)


def obey(reporter: Reporter, watch: Watch, now_ns: int) -> None:
    """Do what the hub requests: ``self-test`` is all that a beam can."""
    for name, _ in reporter.requests():
        if name != "self-test":
            reporter.vitals.bad(f"request {name}", "a beam knows only 'self-test'")
        elif not watch.test_soon(now_ns):
            reporter.vitals.bad(f"request {name}", "[beam] emitter_pin is 0, so the emitter cannot be switched")
