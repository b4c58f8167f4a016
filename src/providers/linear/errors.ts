import { z } from 'zod';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { maskSecrets } from '../../lib/http/index.ts';
import type { Classification } from '../shared/failures.ts';

/** One entry of an answer's `errors`. */
export interface WireError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly userError: boolean;
  readonly userPresentableMessage: string;
}

interface Signal {
  readonly signal: string;
  readonly fits: (error: WireError) => boolean;
  readonly kind: TrackerErrorKind;
  /** Undefined leaves it to the kind. */
  readonly retryable?: boolean;
  /** The answer says when there will be some again. */
  readonly isLimit?: true;
}

/** The table of the specification, first fitting row wins. */
export const SIGNALS: readonly Signal[] = [
  {
    signal: 'message starts with `entity not found`',
    fits: ({ message }) => message.trim().toLowerCase().startsWith('entity not found'),
    kind: 'tracker_not_found',
    retryable: false,
  },
  {
    signal: '`extensions.code` is `RATELIMITED` or `extensions.type` is `ratelimited`',
    fits: ({ code, type }) => code === 'RATELIMITED' || type === 'ratelimited',
    kind: 'tracker_api_error',
    retryable: true,
    isLimit: true,
  },
  {
    signal: '`extensions.type` is `authentication error`',
    fits: ({ type }) => type === 'authentication error',
    kind: 'tracker_auth_error',
    retryable: false,
  },
  {
    signal: '`extensions.type` is `forbidden` or `feature not accessible`',
    fits: ({ type }) => type === 'forbidden' || type === 'feature not accessible',
    kind: 'tracker_auth_error',
    retryable: false,
  },
  {
    signal: '`extensions.type` is `invalid input`, `user error`, `graphql error`, or `userError: true`',
    fits: ({ type, userError }) => userError || ['invalid input', 'user error', 'graphql error'].includes(type),
    kind: 'tracker_payload_error',
    retryable: false,
  },
  {
    signal: '`extensions.type` is `internal error`, `network error`, `lock timeout`, `bootstrap error`',
    fits: ({ type }) => ['internal error', 'network error', 'lock timeout', 'bootstrap error'].includes(type),
    kind: 'tracker_transport_error',
    retryable: true,
  },
  { signal: 'any other `errors` entry', fits: () => true, kind: 'tracker_api_error' },
];

const LONGEST_DETAIL = 512;
/** How much of a text is looked at for secrets: a message may be megabytes long. */
const LONGEST_READ = 8 * LONGEST_DETAIL;

/** What the errors of an answer mean; undefined when it holds none. The first of them decides, and is what is shown. */
export function classifyErrors(
  response: HttpResponse,
  secrets: readonly string[],
): (Classification & { readonly isLimit: boolean }) | undefined {
  const error = firstError(response);
  const signal = error && SIGNALS.find(({ fits }) => fits(error));
  if (!signal) return undefined;
  const said = shown(error.userPresentableMessage, secrets) || shown(error.message, secrets);
  const detail = said || `status ${response.status}: an error without a message`;
  const isLimit = signal.isLimit === true;
  return { kind: signal.kind, detail, isLimit, ...(signal.retryable === undefined ? {} : { retryable: signal.retryable }) };
}

const TEXT = z.string().catch('');
const EXTENSIONS = z.object({
  type: TEXT.transform((type) => type.trim().toLowerCase()),
  code: TEXT.transform((code) => code.trim().toUpperCase()),
  userError: z.boolean().catch(false),
  userPresentableMessage: TEXT,
});
const ERROR = z.object({ message: TEXT, extensions: EXTENSIONS.catch(EXTENSIONS.parse({})) });
const ANY_ERROR = ERROR.catch(ERROR.parse({}));
const ANSWER = z.object({ errors: z.array(z.unknown()).min(1) });

function firstError(response: HttpResponse): WireError | undefined {
  const answer = ANSWER.safeParse(jsonOf(response));
  if (!answer.success) return undefined;
  const { message, extensions } = ANY_ERROR.parse(answer.data.errors[0]);
  return { message, ...extensions };
}

// A body that is no JSON has no errors in it: its status then says what it means.
function jsonOf(response: HttpResponse): unknown {
  try {
    return response.json();
  } catch {
    return undefined;
  }
}

// Masked before it is cut to length: half a key is not recognized any more.
function shown(text: string, secrets: readonly string[]): string {
  const start = text.slice(0, LONGEST_READ);
  // oxlint-disable-next-line no-control-regex
  const line = start.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return maskSecrets(line, secrets, start.length < text.length ? 'end' : null).slice(0, LONGEST_DETAIL);
}
