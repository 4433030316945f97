"""JAX, or one line that says how to get it."""

from __future__ import annotations

from rbdgen.api.folder import InputError

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError:
    raise InputError(
        'rbdgen_host.parallel needs JAX, which is not installed: pip install "rbdgen[parallel]"'
    ) from None

__all__ = ["jax", "jnp"]
