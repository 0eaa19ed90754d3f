"""Partitioners: METIS, the IBM fuser, and the oracle number of parts."""
