"""What is known about workspaces, sessions and jobs, in Postgres."""
