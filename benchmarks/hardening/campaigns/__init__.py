"""The parts of the campaign; `campaign.py` of each yields the rows of its table."""
