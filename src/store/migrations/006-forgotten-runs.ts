/** What forgotten runs had used, so that the totals stay true; and a way to find old runs quickly. */
export const FORGOTTEN_RUNS = `
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
CREATE INDEX runs_by_end ON runs (ended_at);
`;
