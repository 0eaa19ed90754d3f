"""Tests of the RNN placer."""
