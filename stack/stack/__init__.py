"""The embedded stack: Postgres, S3, Redis and the product's services on one machine, without containers."""
