"""Where answers come from: HTTP protocols, quoting without a model, replay of a script."""
