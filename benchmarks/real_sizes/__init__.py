"""Placers beside their rivals on problems of the sizes that users bring."""
