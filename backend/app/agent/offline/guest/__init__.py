"""Programs that the analyst writes into the sandbox. They run there, on the sandbox's libraries, and import nothing of `app`."""
