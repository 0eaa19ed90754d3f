"""Readers and writers for Flink, Storm and others."""
