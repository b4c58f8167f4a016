/** Requests of people with who asked and what became of them, and the pause of the whole service. */
export const OPERATOR = `
ALTER TABLE claims ADD COLUMN stopped_by TEXT;

DROP TABLE operator_requests;
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
`;
