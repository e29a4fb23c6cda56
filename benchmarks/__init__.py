"""Speed, judged by ratios to the bare thing measured in the same process and run."""
