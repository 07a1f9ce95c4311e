"""The SQLite truth: documents, chunks and segments of postings in one `corpus.db`."""
