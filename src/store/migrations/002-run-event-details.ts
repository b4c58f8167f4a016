/** What tool calls, turns and figures were, kept within a number of bytes for each run instead of a number of events. */
export const RUN_EVENT_DETAILS = `
ALTER TABLE run_events ADD COLUMN details TEXT;
ALTER TABLE run_events ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE run_events SET bytes = length(CAST(text AS BLOB)) + 64;

CREATE TABLE run_event_sums (
  run_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  left_out_events INTEGER NOT NULL DEFAULT 0,
  left_out_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO run_event_sums (run_id, bytes) SELECT run_id, sum(bytes) FROM run_events GROUP BY run_id;
`;
