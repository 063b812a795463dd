"""The child process in which originals are decoded: its start, its limits, and what it and the worker say."""
