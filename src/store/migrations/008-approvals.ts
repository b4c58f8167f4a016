/** What each issue said when its approval label was first seen. */
export const APPROVALS_SCHEMA = `
CREATE TABLE approvals (
  tracker TEXT NOT NULL,
  issue_id TEXT NOT NULL,
  label TEXT NOT NULL,
  digest TEXT NOT NULL,
  labelling TEXT NOT NULL,
  seen_at REAL NOT NULL,
  PRIMARY KEY (tracker, issue_id)
) STRICT;
`;
