"""One module for each thing the embedded stack runs."""
