"""Numbers of instances of operators, and the devices that they need."""
