"""Turnkeeper: a coding agent whose server keeps the runs and whose clients come and go.

Importing this package costs nothing: whatever is slow to import is imported by whoever uses it.
"""

__version__ = "0.1.0"
