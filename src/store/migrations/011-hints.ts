/** What daemons that stand by were told and the leader should hear: webhooks and wishes for a poll. On PostgreSQL alone. */
export const HINTS = `
CREATE TABLE hints (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
`;
