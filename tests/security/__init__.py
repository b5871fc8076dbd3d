"""What files may do, and what they may not: SECURITY.md."""
