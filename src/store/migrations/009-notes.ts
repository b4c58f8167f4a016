/** What people look back on: what happened to each issue, and how polls went. */
export const NOTES = `
CREATE TABLE notes (
  subject TEXT NOT NULL,
  noted_at REAL NOT NULL,
  place REAL NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX notes_by_subject ON notes (subject, noted_at);
CREATE INDEX notes_by_time ON notes (noted_at);
`;
