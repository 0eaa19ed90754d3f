"""The process of a device that runs passes; only the standard library, to start fast."""
