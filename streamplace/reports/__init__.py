"""The what-if report, a single HTML file."""
