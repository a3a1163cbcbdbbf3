"""HTTP: policy, connections, proxies, and the guard against private addresses."""
