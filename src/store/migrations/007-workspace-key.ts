/** What the marks of workspaces are signed with: a mark that an agent or another daemon wrote does not count as ours. */
export const WORKSPACE_KEY = `
CREATE TABLE workspace_key (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  key TEXT NOT NULL
) STRICT;
INSERT INTO workspace_key VALUES (1, hex(randomblob(32)));
`;
