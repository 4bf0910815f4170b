"""What each command of `fiador` is and does: one file a command, named as it is typed, below `root`.

Beside them what several share: `console`, `explain`, `evaluation`; and the demo's scenes.
"""
