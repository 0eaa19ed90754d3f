"""What placements are worth: the bridge from problems to closed forms and simulators."""
