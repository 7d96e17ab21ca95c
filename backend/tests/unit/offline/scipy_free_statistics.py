"""Statistics from the standard library, to check the sandbox's results against another implementation."""

import statistics


def pearson(x: list[float], y: list[float]) -> float:
    return statistics.correlation([float(value) for value in x], [float(value) for value in y])
