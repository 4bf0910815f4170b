"""The ground for whatever reads text: folding, words, language, roots of words. Pure."""
