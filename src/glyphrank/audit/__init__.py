"""What is odd about a dataset, and the best that any ranker can reach on it."""

from glyphrank.audit.findings import audit

__all__ = ["audit"]
