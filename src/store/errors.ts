import { RecordsError } from '../domain/model/errors.ts';

export type StoreErrorKind =
  | 'corrupt'
  | 'unwritable'
  | 'newer'
  | 'locked'
  | 'missing'
  | 'unreadable-row'
  | 'closed'
  | 'unreachable'
  | 'not-leading'
  | 'failed';

export interface StoreErrorFacts {
  /** Where the database is: a file, or an address without its password. */
  readonly path: string;
  readonly kind: StoreErrorKind;
  readonly what: string;
  readonly remedy: string;
  readonly cause?: unknown;
}

/** Reads `database <path>: <what is wrong>: <what to do>`. */
export class StoreError extends RecordsError {
  readonly kind: StoreErrorKind;
  readonly path: string;

  constructor(facts: StoreErrorFacts) {
    super(`database ${facts.path}: ${facts.what}: ${facts.remedy}`, { cause: facts.cause });
    this.name = 'StoreError';
    this.kind = facts.kind;
    this.path = facts.path;
  }

  get isAway(): boolean {
    return this.kind === 'unreachable' || this.kind === 'not-leading';
  }
}
