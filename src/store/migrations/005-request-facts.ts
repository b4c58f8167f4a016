/** What was found out about a watched request: whether it is the issue's own, its head, and when a run of ours last went on. */
export const REQUEST_FACTS = `ALTER TABLE watches ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';`;
