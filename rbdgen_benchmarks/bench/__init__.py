"""The long measurements, and the demo."""
