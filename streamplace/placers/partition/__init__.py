"""Partitioners: METIS, the IBM Streams fuser, and their oracles."""
