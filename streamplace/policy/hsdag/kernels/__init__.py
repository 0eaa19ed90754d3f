"""Compiled parts of HSDAG."""
