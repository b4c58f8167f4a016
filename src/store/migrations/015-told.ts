/**
 * What lasts and was told to people outside: a pause, an outage. A service that is paused now has told so, as far as anybody
 * wanted to hear of it.
 */
export const TOLD_SCHEMA = `
CREATE TABLE told (
  subject TEXT PRIMARY KEY,
  what TEXT NOT NULL
) STRICT;
INSERT INTO told (subject, what) SELECT 'pause', reason FROM operator_pause;
`;
