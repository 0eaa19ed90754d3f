"""Malicious files."""
