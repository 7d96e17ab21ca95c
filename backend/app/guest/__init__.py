"""Programs that run inside the sandbox, sent there as text; the API never imports them."""
