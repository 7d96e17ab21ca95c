"""What is allowed: paths, names, sizes."""
