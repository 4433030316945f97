"""One piece of hardware for all functions: stages, and which of them each function goes through."""
