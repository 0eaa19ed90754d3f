"""Schedules: when every operator of one pass of a graph starts and ends."""
