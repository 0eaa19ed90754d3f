"""The third stage of DOPPLER on the testbed: what learning from measured makespans gains."""
