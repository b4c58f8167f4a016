/**
 * Every record of an issue belongs to one tracker, known by its identity: two trackers may have an issue of the same
 * id. What an older version wrote has an empty identity until a tracker adopts it.
 */
export const TRACKERS = `
CREATE TABLE trackers (
  identity TEXT PRIMARY KEY,
  label TEXT NOT NULL
) STRICT;
-- The identity that a tracker was found to have under the name it is configured by.
CREATE TABLE tracker_names (
  name TEXT PRIMARY KEY,
  identity TEXT NOT NULL
) STRICT;

ALTER TABLE claims RENAME TO old_claims;
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
INSERT INTO claims SELECT '', * FROM old_claims ORDER BY rowid;
DROP TABLE old_claims;

ALTER TABLE parked RENAME TO old_parked;
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
INSERT INTO parked SELECT '', * FROM old_parked ORDER BY rowid;
DROP TABLE old_parked;

ALTER TABLE outbox RENAME TO old_outbox;
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
INSERT INTO outbox SELECT '', * FROM old_outbox ORDER BY rowid;
DROP TABLE old_outbox;

ALTER TABLE workspaces RENAME TO old_workspaces;
CREATE TABLE workspaces (
  tracker TEXT NOT NULL,
  path TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  title TEXT NOT NULL,
  last_used_at REAL NOT NULL,
  PRIMARY KEY (tracker, path)
) STRICT;
INSERT INTO workspaces SELECT '', * FROM old_workspaces ORDER BY rowid;
DROP TABLE old_workspaces;

ALTER TABLE spent RENAME TO old_spent;
CREATE TABLE spent (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  sessions INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (tracker, issue_id)
) STRICT;
INSERT INTO spent SELECT '', * FROM old_spent ORDER BY rowid;
DROP TABLE old_spent;

ALTER TABLE watches RENAME TO old_watches;
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
  PRIMARY KEY (tracker, issue_id)
) STRICT;
INSERT INTO watches SELECT '', * FROM old_watches ORDER BY rowid;
DROP TABLE old_watches;

ALTER TABLE runs ADD COLUMN tracker TEXT NOT NULL DEFAULT '';
`;
