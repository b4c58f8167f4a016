/**
 * Moments are epoch milliseconds (REAL, since a jittered one may have a fraction). Tables that are loaded whole are read
 * in the order of their rowid, which is the order of first insertion.
 */
export const INITIAL = `
CREATE TABLE instance (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  workflow_path TEXT NOT NULL,
  process_start TEXT NOT NULL,
  started_at REAL NOT NULL
) STRICT;

CREATE TABLE claims (
  issue_id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  owner TEXT NOT NULL,
  lease_until REAL NOT NULL,
  phase TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  refusals INTEGER NOT NULL,
  session_id TEXT,
  since REAL NOT NULL,
  run_id TEXT,
  trigger TEXT,
  reaction TEXT,
  due_at REAL,
  error TEXT,
  handoff TEXT
) STRICT;

CREATE TABLE parked (
  issue_id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  parked_at REAL NOT NULL,
  state_at_park TEXT
) STRICT;

CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  tries INTEGER NOT NULL,
  due_at REAL NOT NULL
) STRICT;

CREATE TABLE workspaces (
  path TEXT PRIMARY KEY,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  title TEXT NOT NULL,
  last_used_at REAL NOT NULL
) STRICT;

CREATE TABLE spent (
  issue_id TEXT PRIMARY KEY,
  sessions INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL
) STRICT;

CREATE TABLE pauses (
  agent_kind TEXT PRIMARY KEY,
  until REAL NOT NULL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE watches (
  issue_id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  owner TEXT NOT NULL,
  repo TEXT NOT NULL,
  number INTEGER NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  armed_at REAL NOT NULL,
  attempt INTEGER NOT NULL,
  reactions TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  agent_kind TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL,
  turns INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  workspace_path TEXT NOT NULL,
  model TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  tokens_measured INTEGER NOT NULL,
  cost_usd REAL,
  error TEXT
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at, id);
CREATE INDEX runs_by_identifier ON runs (identifier, started_at, id);
CREATE INDEX runs_running ON runs (id) WHERE status = 'running';
-- Holds all that the lifetime totals need, so that they never read the runs themselves.
CREATE INDEX runs_finished ON runs
  (ended_at, started_at, input_tokens, output_tokens, total_tokens, cache_read_tokens, cost_usd)
  WHERE ended_at IS NOT NULL;

CREATE TABLE run_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL,
  at REAL NOT NULL,
  type TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX run_events_by_run ON run_events (run_id, seq);

CREATE TABLE operator_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  identifier TEXT NOT NULL,
  requested_at REAL NOT NULL DEFAULT (unixepoch() * 1000)
) STRICT;

CREATE TABLE processes (
  pid INTEGER PRIMARY KEY,
  start_time TEXT NOT NULL,
  owner TEXT NOT NULL,
  instance TEXT NOT NULL
) STRICT;
`;
