"""The readers under test, servers whose answers come from files, and the use of what is read."""
