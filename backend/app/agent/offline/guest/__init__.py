"""Programs that the analyst writes into the sandbox: they run on its libraries and import nothing of `app`."""
