"""What runs on a device. Nothing but the standard library, since it starts on a part of a core."""
