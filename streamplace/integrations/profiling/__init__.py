"""Counters, REST and estimates: the common part of profiles."""
