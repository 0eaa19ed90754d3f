"""One module for each verb of the public interface."""
