"""The contract between board, hub and dashboard: messages, topics, bus, clock, config."""
