"""Apache Flink: plans, profiles and slot-sharing groups."""
