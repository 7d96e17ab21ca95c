"""Where commands run: one protocol, one file per kind of sandbox, and the factory that picks by a real boot."""
