"""The controller beside Apache Flink's own autoscaler, in pairs of runs on a real Flink."""
