"""The parts of the campaign; the module `campaign` of each part yields its rows."""
