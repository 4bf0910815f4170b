"""Full-text search (Tantivy): derived from the truth, filtered inside the query, made again where damaged."""
