"""A whole club, or all of one board, as processes of one machine: broker, supervisor, simulated players' bridge."""
