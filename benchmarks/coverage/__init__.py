"""Coverage of every interval and rejection rate of every test, on simulated studies."""
