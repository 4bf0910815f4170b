"""What was decided and why: the decision log, metrics, log lines."""
