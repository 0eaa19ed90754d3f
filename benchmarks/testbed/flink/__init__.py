"""The same graphs and placements on Apache Flink, with one TaskManager per device."""
