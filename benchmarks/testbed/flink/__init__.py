"""The same graphs and placements on Apache Flink, a TaskManager a device."""
