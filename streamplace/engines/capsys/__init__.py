"""CAPSys, a Flink that places subtasks."""
