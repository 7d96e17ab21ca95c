"""Commands: admitted, run once, recorded."""
