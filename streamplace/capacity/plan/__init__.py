"""Plans: the source rates that numbers or sets of devices sustain."""
