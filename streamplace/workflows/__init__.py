"""The verbs of the public interface: one module each."""
