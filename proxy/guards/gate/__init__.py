"""The gate (DESIGN §4): what of a model's answer the sources support, sentence by sentence."""
