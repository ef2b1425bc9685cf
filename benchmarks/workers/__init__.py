"""What it costs to run embedded phones in processes of their own."""
