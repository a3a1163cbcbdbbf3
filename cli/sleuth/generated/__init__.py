"""What python -m sleuth.generate writes for the front desk."""
