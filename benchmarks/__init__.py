"""What it costs: each program measures ratios within one run, and knows its bounds."""
