"""Apache Flink: plans, profiles, slot-sharing groups."""
