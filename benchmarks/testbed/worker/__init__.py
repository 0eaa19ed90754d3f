"""The process of a device. It uses only the standard library, to start fast on a part of a core."""
