"""Task engines: what is particular to each of them. This much is true of any."""

# The queue of jobs that wait for other servers: images do not wait behind them.
NETWORK_QUEUE = "network"
