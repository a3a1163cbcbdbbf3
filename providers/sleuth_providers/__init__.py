"""Search providers as small adapters: attributes, a pure request, a pure parse."""
