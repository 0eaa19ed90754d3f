"""The hardening campaign: quality assurance whose parts count what they try."""
