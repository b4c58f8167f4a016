/** Workers, the runs they were given, and what passes between them and the leader. On PostgreSQL alone. */
export const WORKERS = `
CREATE TABLE worker_hosts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  labels TEXT NOT NULL,
  slots INTEGER NOT NULL,
  version TEXT NOT NULL,
  load REAL NOT NULL,
  heard_at REAL NOT NULL,
  draining INTEGER NOT NULL,
  refused TEXT
) STRICT;

CREATE TABLE worker_runs (
  run_id TEXT PRIMARY KEY,
  worker TEXT NOT NULL,
  job TEXT NOT NULL,
  stop_reason TEXT
) STRICT;

CREATE TABLE worker_words (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT;

CREATE TABLE worker_requests (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  request TEXT NOT NULL,
  taken INTEGER NOT NULL,
  answer TEXT
) STRICT;
`;
