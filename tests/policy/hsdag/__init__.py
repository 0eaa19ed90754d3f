"""Tests of HSDAG."""
