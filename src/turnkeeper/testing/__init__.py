"""Our own doubles, shipped: what we test with, you can test with."""
