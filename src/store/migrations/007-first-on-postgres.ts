/**
 * PostgreSQL came with this version: the tables as they are by now. What several daemons need to share them follows in
 * `007-shared-by-daemons.ts`. On every table that only the leader writes, `stamp_epoch` (made before it) notes the epoch of each row.
 */
export const FIRST_ON_POSTGRES = `
CREATE TABLE trackers (
  identity TEXT PRIMARY KEY,
  label TEXT NOT NULL
) STRICT;

CREATE TABLE tracker_names (
  name TEXT PRIMARY KEY,
  identity TEXT NOT NULL
) STRICT;

CREATE TABLE claims (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
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
  handoff TEXT,
  stopped_by TEXT,
  PRIMARY KEY (tracker, issue_id)
) STRICT;

CREATE TABLE parked (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  parked_at REAL NOT NULL,
  state_at_park TEXT,
  PRIMARY KEY (tracker, issue_id)
) STRICT;

CREATE TABLE outbox (
  tracker TEXT NOT NULL,
  id TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  display_identifier TEXT,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  tries INTEGER NOT NULL,
  due_at REAL NOT NULL,
  PRIMARY KEY (tracker, id)
) STRICT;

CREATE TABLE workspaces (
  tracker TEXT NOT NULL,
  path TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  title TEXT NOT NULL,
  last_used_at REAL NOT NULL,
  PRIMARY KEY (tracker, path)
) STRICT;

CREATE TABLE spent (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  sessions INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (tracker, issue_id)
) STRICT;

CREATE TABLE pauses (
  agent_kind TEXT PRIMARY KEY,
  until REAL NOT NULL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE watches (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
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
  reactions TEXT NOT NULL,
  facts TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (tracker, issue_id)
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
  error TEXT,
  tracker TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX runs_by_start ON runs (started_at, id);
CREATE INDEX runs_by_identifier ON runs (identifier, started_at, id);
CREATE INDEX runs_running ON runs (id) WHERE status = 'running';
-- Holds all that the lifetime totals need, so that they never read the runs themselves.
CREATE INDEX runs_finished ON runs
  (ended_at, started_at, input_tokens, output_tokens, total_tokens, cache_read_tokens, cost_usd)
  WHERE ended_at IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at);

CREATE TABLE run_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL,
  at REAL NOT NULL,
  type TEXT NOT NULL,
  text TEXT NOT NULL,
  details TEXT,
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX run_events_by_run ON run_events (run_id, seq);

CREATE TABLE run_event_sums (
  run_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  left_out_events INTEGER NOT NULL DEFAULT 0,
  left_out_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE operator_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  identifier TEXT,
  reason TEXT,
  asked_by TEXT NOT NULL,
  asked_at REAL NOT NULL DEFAULT (unixepoch() * 1000),
  outcome TEXT,
  message TEXT,
  answered_at REAL
) STRICT;
CREATE INDEX operator_requests_waiting ON operator_requests (id) WHERE outcome IS NULL;

CREATE TABLE operator_pause (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  reason TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  since REAL NOT NULL
) STRICT;

CREATE TABLE forgotten_runs (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  runs REAL NOT NULL,
  input_tokens REAL NOT NULL,
  output_tokens REAL NOT NULL,
  total_tokens REAL NOT NULL,
  cache_read_tokens REAL NOT NULL,
  seconds REAL NOT NULL,
  cost_usd REAL NOT NULL
) STRICT;
INSERT INTO forgotten_runs VALUES (1, 0, 0, 0, 0, 0, 0, 0);

CREATE TABLE workspace_key (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  key TEXT NOT NULL
) STRICT;
INSERT INTO workspace_key VALUES (1, upper(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')));
`;
