"""The tenon binary as a Python package. It has no Python interface."""
