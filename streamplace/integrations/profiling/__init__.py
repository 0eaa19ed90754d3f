"""What profiles of running jobs share: counters, REST, estimates."""
