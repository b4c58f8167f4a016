/** People write the name of an issue in any case, and a history may be long. */
export const NAMES_IN_ANY_CASE = `
CREATE INDEX runs_by_name ON runs (lower(identifier));
`;
