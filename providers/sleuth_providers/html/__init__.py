"""Reading results from HTML pages."""
