"""The what-if page, one HTML file."""
