"""Published systems and their experiments, registered as those of other packages are."""

__all__: list[str] = []
