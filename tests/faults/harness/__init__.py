"""The fault harness: starts pipelines, breaks them, and compares what comes out with an undisturbed run."""
