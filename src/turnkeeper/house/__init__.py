"""The composition root: settings become stores, models, tools, workspaces and a server. Only this room knows all."""
