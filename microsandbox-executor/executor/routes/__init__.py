"""HTTP in, HTTP out: no rules of its own."""
