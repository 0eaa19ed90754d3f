"""Tests of GiPH."""
