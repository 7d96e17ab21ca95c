"""Alembic's environment: runs on the connection that `executor.migrate` hands over."""

from alembic import context

from executor.metadata.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
