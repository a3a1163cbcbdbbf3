"""What python -m tools.generate writes for the front desk."""
