"""Integrations with Flink, Storm and others: readers of documents, writers of placements."""
