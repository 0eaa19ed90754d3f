"""The controller compared with other rules on simulated traces."""
