"""What the facts mean: the rules, the referee, the journal."""
