"""Whether the passages that are chosen from a long document hold what answers the question."""
