"""Kafka Streams: topologies."""
