"""Machines without a stream engine: their processors, and the speed of this one."""
