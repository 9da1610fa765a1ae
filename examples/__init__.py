"""What one can do with pascal, from beginning to end."""
