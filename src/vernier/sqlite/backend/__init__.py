"""A database ENGINE: Django's for SQLite, in which the writers of one process wait for each other in a queue."""
