"""The device scorer: a policy that scores every device with one shared network."""
