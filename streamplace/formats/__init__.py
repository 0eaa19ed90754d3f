"""What a format is, the registry, and the formats that belong to no engine."""
