/**
 * Names of hosts are not unique: two containers may have the same. What is done about processes by their number goes by the
 * machine, and a worker is known by what is stored beside its workspaces. Records of processes made before are dropped; those
 * processes are still found by what they carry. On PostgreSQL alone.
 */
export const MACHINES = `
ALTER TABLE instances ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE worker_hosts ADD COLUMN identity TEXT NOT NULL DEFAULT '';
DELETE FROM processes;
`;
