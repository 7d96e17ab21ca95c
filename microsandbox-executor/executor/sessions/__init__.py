"""Sessions: one sandbox incarnation each over a lasting workspace."""
