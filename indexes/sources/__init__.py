"""Where documents come from: a folder, or pushed one by one."""
