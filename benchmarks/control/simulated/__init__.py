"""The simulator of the controller: a job with changing rates and devices, and rules compared."""
