/**
 * A request about an issue is one of a tracker, since two may have an issue of the same name. Empty for what holds for the
 * whole service, and for what was asked by a workflow file that did not say which tracker it means.
 */
export const REQUEST_TRACKERS = `
ALTER TABLE operator_requests ADD COLUMN tracker TEXT NOT NULL DEFAULT '';
`;
