"""A search request becomes an outcome: options, provider selection, dispatch, merge, batch, record and replay."""
