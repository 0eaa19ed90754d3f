"""Graph exchange formats: DOT, GraphML, DREAM and CEPSim JSON."""
