"""The controller on Apache Flink: measurements, actions, recovery, and the loop."""
