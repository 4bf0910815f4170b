"""The tables of the truth. Ids of passages and group sets are never used again (AUTOINCREMENT)."""

VERSION = 1
"""Of these tables; a file of another version is not opened."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    epoch TEXT NOT NULL,               -- of this line of history: derived indexes of another are thrown away
    generation INTEGER NOT NULL,       -- moves with every change that a viewer could notice
    drained INTEGER NOT NULL,          -- moves when the keyword index has caught up
    horizon INTEGER NOT NULL           -- outbox rows up to this one are gone
);
CREATE TABLE IF NOT EXISTS acl (id INTEGER PRIMARY KEY AUTOINCREMENT, groups TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS acl_group (
    acl INTEGER NOT NULL REFERENCES acl, name TEXT NOT NULL, PRIMARY KEY (acl, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS acl_group_name ON acl_group (name, acl);
CREATE TABLE IF NOT EXISTS document (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,          -- Document.id
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    language TEXT,
    supersedes TEXT,                   -- key of the predecessor, which need not be here
    digest TEXT NOT NULL,              -- of all but the access
    acl INTEGER NOT NULL REFERENCES acl,
    valid_from INTEGER NOT NULL,       -- microseconds since 1970 UTC
    valid_to INTEGER NOT NULL,         -- its own end
    ends INTEGER NOT NULL              -- the end that counts: also where a successor begins
);
CREATE INDEX IF NOT EXISTS document_source ON document (source, acl, valid_from, ends, language);
CREATE INDEX IF NOT EXISTS document_supersedes ON document (supersedes) WHERE supersedes IS NOT NULL;
CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    place INTEGER NOT NULL,
    key TEXT NOT NULL,                 -- chunks.Chunk.key: same key, same text
    headings TEXT NOT NULL,            -- JSON list
    text TEXT NOT NULL,
    hash TEXT NOT NULL,                -- of what is embedded: title, headings, text
    UNIQUE (document, key)
);
CREATE INDEX IF NOT EXISTS passage_hash ON passage (hash);
CREATE TABLE IF NOT EXISTS vector (
    model TEXT NOT NULL, hash TEXT NOT NULL, half_floats BLOB NOT NULL, PRIMARY KEY (model, hash)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, passage INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS record (
    key TEXT PRIMARY KEY,              -- Record.id
    book TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,               -- JSON object by language
    text TEXT NOT NULL,                -- JSON object by language
    url TEXT,
    begun TEXT,                        -- 2024, 2024-05 or 2024-05-01
    ended TEXT,
    current INTEGER NOT NULL,
    acl INTEGER NOT NULL REFERENCES acl,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS record_book ON record (book, kind);
"""
