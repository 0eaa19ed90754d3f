"""Hardened readers of XML, YAML and decimal numbers."""
