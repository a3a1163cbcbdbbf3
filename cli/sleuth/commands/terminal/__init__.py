"""What commands share: prompts, progress, display, the interactive screen."""
