"""The pages people see: wall, table, overlay."""
