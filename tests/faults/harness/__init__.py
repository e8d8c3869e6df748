"""The fault harness: starts pipelines, causes faults, and compares the results with an
undisturbed run."""
