"""Profiles of running jobs: counters, REST, estimates."""

__all__ = ["counters", "estimates", "profile", "rest", "shares"]
