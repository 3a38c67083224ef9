"""What people ask of a table, who may, and what it changes."""
