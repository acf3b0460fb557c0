"""Questions over the full texts of many papers at once, whose answers a program knows."""
