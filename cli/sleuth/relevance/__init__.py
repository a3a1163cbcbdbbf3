"""What belongs together, what matters most, and how much of it fits: pure functions over text and lists."""
