"""Data only, read by `importlib.resources`: commented settings, packs, prompts, sample corpus."""
