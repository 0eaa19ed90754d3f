"""Profiles of running jobs: counters, REST, estimates."""
