import { sameState } from '../../domain/model/issue.ts';

/** One change of one record, whatever the form of its file. */
export type RecordEdit =
  | { readonly type: 'state'; readonly state: string }
  | { readonly type: 'add_label'; readonly label: string }
  | { readonly type: 'remove_label'; readonly label: string }
  | { readonly type: 'comment'; readonly comment: StoredComment };

/** A comment as it is written to the file. */
export interface StoredComment {
  readonly id: string;
  readonly author: string;
  readonly body: string;
  readonly created_at: string;
}

/** A change with the time at which it happens: a record that has `updated_at` gets it. */
export type TimedEdit = RecordEdit & { readonly at: string };

/** A record that cannot be changed without losing something of it. */
export class EditRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EditRefusedError';
  }
}

export function sameLabel(a: unknown, b: string): boolean {
  return typeof a === 'string' && sameState(a, b);
}

/** The entries of a list that may be absent. Something else in its place is not thrown away. */
export function listOrRefuse(value: unknown, key: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new EditRefusedError(`${key} is not a list; make it one by hand`);
}
