"""Our designs and programs beside those of others."""
