/** How many forgotten runs had no price; of those forgotten before, nobody knows. */
export const UNPRICED_RUNS = `
ALTER TABLE forgotten_runs ADD COLUMN unpriced_runs REAL NOT NULL DEFAULT 0;
`;
