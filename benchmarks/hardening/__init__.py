"""The hardening campaign: robustness tests that count their tries and their faults."""
