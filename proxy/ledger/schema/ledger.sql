-- Money in nano-dollars, moments in Unix seconds, periods as text that sorts as time does.

-- What each account has spent and set aside in a day; a month is the sum of its days.
-- Derived from holds and entries; `fiador spend --verify` proves it.
CREATE TABLE IF NOT EXISTS balances (
  account TEXT    NOT NULL,              -- deployment, key:ID or group:NAME
  day     TEXT    NOT NULL,
  settled INTEGER NOT NULL DEFAULT 0,
  held    INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

-- Money set aside for an attempt that has not ended.
CREATE TABLE IF NOT EXISTS holds (
  id            TEXT    PRIMARY KEY,
  owner         TEXT    NOT NULL,
  made          REAL    NOT NULL,
  expires       REAL    NOT NULL,
  key_id        TEXT    NOT NULL,
  groups        TEXT    NOT NULL,        -- JSON array
  model         TEXT    NOT NULL,
  day           TEXT    NOT NULL,
  month         TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  nanousd       INTEGER NOT NULL CHECK (nanousd >= 0)
) STRICT, WITHOUT ROWID;

-- What was booked: never changed, never deleted; a correction is another entry.
CREATE TABLE IF NOT EXISTS entries (
  hold          TEXT    NOT NULL,        -- sorts as time does, so that the table grows at its end
  part          INTEGER NOT NULL,        -- 0; a correction: 1 and so on
  basis         TEXT    NOT NULL,        -- reported filled bound unsent recovered expired late adjusted
  made          REAL    NOT NULL,
  booked        REAL    NOT NULL,
  key_id        TEXT    NOT NULL,
  groups        TEXT    NOT NULL,
  model         TEXT    NOT NULL,
  day           TEXT    NOT NULL,
  month         TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  held          INTEGER NOT NULL,
  nanousd       INTEGER NOT NULL,
  reason        TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (hold, part)
) STRICT, WITHOUT ROWID;

-- Models whose reported usage went above the hold: no further call until acknowledged.
CREATE TABLE IF NOT EXISTS closed (
  model  TEXT PRIMARY KEY,
  since  REAL NOT NULL,
  detail TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The latest period that money was set aside in: a clock that is put back does not open an old one again.
CREATE TABLE IF NOT EXISTS latest (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  day TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- What an operator did, by hand.
CREATE TABLE IF NOT EXISTS audit (
  number  INTEGER PRIMARY KEY,
  at      REAL NOT NULL,
  by      TEXT NOT NULL,
  act     TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason  TEXT NOT NULL
) STRICT;
