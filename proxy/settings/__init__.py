"""Settings: one page of them (`tree`), read strictly (`load`), and the language packs (`languages`)."""
