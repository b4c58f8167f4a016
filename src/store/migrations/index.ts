import { INITIAL } from './001-initial.ts';
import { RUN_EVENT_DETAILS } from './002-run-event-details.ts';
import { OPERATOR } from './003-operator.ts';
import { TRACKERS } from './004-trackers.ts';
import { REQUEST_FACTS } from './005-request-facts.ts';
import { FORGOTTEN_RUNS } from './006-forgotten-runs.ts';
import { FIRST_ON_POSTGRES } from './007-first-on-postgres.ts';
import { SHARED_BY_DAEMONS } from './007-shared-by-daemons.ts';
import { WORKSPACE_KEY } from './007-workspace-key.ts';
import { APPROVALS_SCHEMA } from './008-approvals.ts';
import { NOTES } from './009-notes.ts';
import { WORKERS } from './010-workers.ts';
import { HINTS } from './011-hints.ts';
import { REQUEST_TRACKERS } from './012-request-trackers.ts';
import { MACHINES } from './013-machines.ts';
import { NAMES_IN_ANY_CASE } from './014-names-in-any-case.ts';
import { TOLD_SCHEMA } from './015-told.ts';
import { UNPRICED_RUNS } from './016-unpriced-runs.ts';

/**
 * One step of the schema. A text is for both databases: written for SQLite, and what PostgreSQL spells differently (types,
 * the order of rows) is exchanged. Where that is not enough, each has a text of its own.
 */
export type Migration = string | { readonly sqlite: string; readonly postgres: string };

const beforePostgres = (sqlite: string): Migration => ({ sqlite, postgres: '' });

/** In order; the first is version 1. A migration that was released is never edited, only followed by another. */
export const MIGRATIONS: readonly Migration[] = [
  beforePostgres(INITIAL),
  beforePostgres(RUN_EVENT_DETAILS),
  beforePostgres(OPERATOR),
  beforePostgres(TRACKERS),
  beforePostgres(REQUEST_FACTS),
  beforePostgres(FORGOTTEN_RUNS),
  { sqlite: WORKSPACE_KEY, postgres: `${FIRST_ON_POSTGRES}${SHARED_BY_DAEMONS}` },
  APPROVALS_SCHEMA,
  NOTES,
  { sqlite: '', postgres: WORKERS },
  { sqlite: '', postgres: HINTS },
  REQUEST_TRACKERS,
  { sqlite: '', postgres: MACHINES },
  NAMES_IN_ANY_CASE,
  TOLD_SCHEMA,
  UNPRICED_RUNS,
];

export const SCHEMA_VERSION = MIGRATIONS.length;
