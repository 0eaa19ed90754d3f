"""The policy that scores one device after another with a shared network."""
