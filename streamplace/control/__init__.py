"""The controller of running jobs: what it measures, plans, decides and does."""
