"""Addresses of brokers: whatever stands in a configuration is an address or one clear error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.link.bus import BusError, broker_address


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("mqtt://127.0.0.1", "127.0.0.1", 1883),
        ("mqtt://hub.local:1884", "hub.local", 1884),
        ("mqtt://user:p%40ss@Hub.local:1884/", "hub.local", 1884),
        ("mqtt://[::1]:1884", "::1", 1884),
        ("mqtt://bücher.example", "xn--bcher-kva.example", 1883),
    ],
)
def test_a_broker_is_named(url: str, host: str, port: int) -> None:
    assert broker_address(url)[:2] == (host, port)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hub.local",
        "http://hub.local",
        "mqtt://",
        "mqtt://[",
        "mqtt://[bad",
        "mqtt://a..b",
        "mqtt://" + 70 * "x",
        "mqtt://a b",
        "mqtt://a\0b",
        "mqtt://h:0",
        "mqtt://h:-1",
        "mqtt://h:65536",
        "mqtt://h:x",
    ],
)
def test_what_is_no_broker_is_told_with_the_address(url: str) -> None:
    with pytest.raises(BusError, match="broker"):
        broker_address(url)


@given(st.text(max_size=30))
def test_no_text_raises_anything_else(rest: str) -> None:
    try:
        host, port, _ = broker_address("mqtt://" + rest)
    except BusError:
        return
    assert host
    assert 1 <= port <= 65535
