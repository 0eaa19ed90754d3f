"""Safe readers and writers of XML, YAML and decimal numbers."""
