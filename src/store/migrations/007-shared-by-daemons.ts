/** What several daemons on one database need: who leads, which of them are there, and the guard of the epoch. On PostgreSQL alone. */
export const SHARED_BY_DAEMONS = `
-- Who leads, under which epoch. Times are those of the server's clock, which all daemons share.
CREATE TABLE leader (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  epoch INTEGER NOT NULL,
  instance TEXT NOT NULL,
  since REAL NOT NULL,
  renewed_at REAL NOT NULL,
  left_at REAL,
  backend_pid INTEGER
);
INSERT INTO leader VALUES (1, 0, '', 0, 0, 0, NULL);

-- The daemons on this database, leading or not.
CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  workflow_path TEXT NOT NULL,
  version TEXT NOT NULL,
  url TEXT,
  started_at REAL NOT NULL,
  seen_at REAL NOT NULL
);

-- Process groups that sessions live in, by the host they are on.
CREATE TABLE processes (
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  owner TEXT NOT NULL,
  instance TEXT NOT NULL,
  PRIMARY KEY (host, pid)
);

-- Every unit of work begins with this: a daemon whose epoch is over can store nothing. The row stays locked against the
-- next epoch until the unit is stored. Tells the transaction's id, by which its fate can be asked.
CREATE FUNCTION require_epoch(expected BIGINT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM foray.leader WHERE epoch = expected FOR SHARE;
  IF NOT FOUND THEN RAISE EXCEPTION 'epoch % is over', expected USING ERRCODE = 'FRY01'; END IF;
  PERFORM set_config('foray.epoch', expected::text, true);
  RETURN pg_current_xact_id()::text;
END $$;
`;
