"""The process of a device that serves single tuples; only the standard library, to start fast."""
