import { StoreError, type StoreErrorFacts } from '../errors.ts';
import { UnreadableRow } from '../records/work.ts';
import { errorText } from '../../lib/error-text.ts';

/** The server is a replica, or was made one. */
export const TAKES_NO_WRITES = '25006';

type Explanation = Pick<StoreErrorFacts, 'kind' | 'what' | 'remedy'>;

const WAIT = 'check the server and the network; services and workers go on when it answers again';
const LOGIN = 'check the user and the password in its address; without one there, that of PGPASSWORD is taken';
const RIGHTS =
  'let the role of its address create schemas in this database (with agent.run_on it makes one for the queue, once), or, without agent.run_on, create the schema foray and make the role its owner; a role of the workers alone needs the rights listed in docs/workers.md';
const LOST_TABLES = 'restore the database from a backup, or restart the services, which begin anew with an empty one';
const TLS = 'check sslmode and sslrootcert in its address';

const REFUSED_LOGIN: Explanation = { kind: 'unwritable', what: 'refuses the login', remedy: LOGIN };

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or by what Node calls it; the longest prefix counts. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  FRY01: { kind: 'not-leading', what: 'is led by another foray', remedy: 'nothing; this one stands by' },
  '08': { kind: 'unreachable', what: 'cannot be reached', remedy: WAIT },
  '28': REFUSED_LOGIN,
  [TAKES_NO_WRITES]: {
    kind: 'unreachable',
    what: 'takes no writes',
    remedy: 'let its address name the primary; services and workers go on when it takes writes again',
  },
  '25P03': { kind: 'unreachable', what: 'ended a unit of work that stood still', remedy: 'nothing; it is tried again' },
  '3D000': { kind: 'missing', what: 'does not exist', remedy: 'create the database, or correct its address' },
  '42P01': { kind: 'missing', what: 'has lost its tables of foray', remedy: LOST_TABLES },
  '42501': { kind: 'unwritable', what: 'lacks a right', remedy: RIGHTS },
  '53': { kind: 'failed', what: 'has no room left', remedy: 'free space on its disk, or raise the limit that the message names' },
  '53200': { kind: 'unreachable', what: 'has no memory left', remedy: WAIT },
  '53300': {
    kind: 'unreachable',
    what: 'has no connection left',
    remedy: 'raise max_connections or the limit of the role; services and workers go on when one is free',
  },
  '57014': {
    kind: 'unreachable',
    what: 'cut a statement short',
    remedy: 'raise statement_timeout of its role, or find what keeps the server busy or ended the statement; it is tried again',
  },
  '57': { kind: 'unreachable', what: 'is stopping or starting', remedy: WAIT },
  DEPTH_ZERO_SELF_SIGNED_CERT: { kind: 'unwritable', what: 'has a certificate that is not trusted', remedy: TLS },
  SELF_SIGNED_CERT_IN_CHAIN: { kind: 'unwritable', what: 'has a certificate that is not trusted', remedy: TLS },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { kind: 'unwritable', what: 'has a certificate that is not trusted', remedy: TLS },
  ERR_TLS_CERT_ALTNAME_INVALID: { kind: 'unwritable', what: 'has a certificate for another name', remedy: TLS },
  E: { kind: 'unreachable', what: 'cannot be reached', remedy: WAIT },
};

const LOST: Explanation = { kind: 'unreachable', what: 'cannot be reached', remedy: WAIT };
const UNENCRYPTED: Explanation = {
  kind: 'unwritable',
  what: 'refuses a connection without TLS',
  remedy: 'add sslmode=verify-full to its address, and sslrootcert where its certificate is of an authority of your own',
};
const NO_TLS: Explanation = { kind: 'unwritable', what: 'does not offer TLS', remedy: TLS };
const UNREADABLE_FILE: Explanation = {
  kind: 'unwritable',
  what: 'cannot be asked: a file that its address names cannot be read',
  remedy: TLS,
};
const UNEXPLAINED: Explanation = {
  kind: 'failed',
  what: 'failed',
  remedy: 'see the message; nothing of this unit of work was stored',
};

/** Turns what the driver threw into words for an operator. */
export function postgresErrorOf(address: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return error instanceof UnreadableRow ? unreadable(address, error) : new StoreError(explained(address, error));
}

/** Where the connection broke while the server was asked to commit: only the server knows whether it did. */
export class InDoubt extends StoreError {
  readonly transaction: string;

  constructor(address: string, transaction: string, cause: unknown) {
    super(explained(address, cause));
    this.transaction = transaction;
  }
}

function explained(address: string, error: unknown): StoreErrorFacts {
  const explanation = explain(error);
  const detail = error instanceof AggregateError ? String(error.errors[0]) : errorText(error);
  return { ...explanation, path: address, what: `${explanation.what} (${detail})`, cause: error };
}

/** Whether the epoch of this daemon is over. */
export function isNotLeading(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'not-leading';
}

/** Whether a newer version has changed the tables. */
export function isNewer(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'newer';
}

/** Whether the server may well answer later. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'unreachable';
}

function explain(error: unknown): Explanation {
  if (!(error instanceof Error)) return UNEXPLAINED;
  const code = 'code' in error ? String(error.code) : '';
  // Not that of a socket, which is there once the server is.
  if ('syscall' in error && error.syscall === 'open') return UNREADABLE_FILE;
  if (code === '') return explainText(error.message);
  if (code === '28000' && error.message.includes('no encryption')) return UNENCRYPTED;
  const prefix = [code.length, 5, 2, 1].map((length) => code.slice(0, length)).find((start) => start in EXPLANATIONS);
  return (prefix === undefined ? undefined : EXPLANATIONS[prefix]) ?? UNEXPLAINED;
}

/** What the driver itself says comes without a code. */
function explainText(message: string): Explanation {
  if (message.includes('does not support SSL')) return NO_TLS;
  // It asks for a password, and there is none to give.
  if (message.startsWith('SASL: ')) return REFUSED_LOGIN;
  return /connection|timeout|terminated|SSL/i.test(message) ? LOST : UNEXPLAINED;
}

function unreadable(address: string, error: UnreadableRow): StoreError {
  const remedy = 'restore the database from a backup, or correct or delete that row with psql';
  return new StoreError({ path: address, kind: 'unreadable-row', what: error.message, remedy, cause: error.cause });
}
