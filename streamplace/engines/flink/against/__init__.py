"""Predictions for a placement compared with the measured use of a running job."""
