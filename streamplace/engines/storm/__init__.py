"""Apache Storm: Flux, UI, profiles, the resource-aware scheduler."""
