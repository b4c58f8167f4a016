import { WorkspaceError } from '../domain/model/errors.ts';

/** Why a remote did not take or give something, told by what git prints. */
export type RefusalKind =
  | 'conflict'
  | 'auth'
  | 'protected'
  | 'name_taken'
  | 'diverged'
  | 'not_found'
  | 'host_key'
  | 'no_ssh'
  | 'too_large'
  | 'network'
  | 'rejected'
  | 'other';

/** In this order: a forge that stumbles is also told as a declined push, a protected branch as a failed one, a refused login also as an access failure. */
const SIGNS: readonly (readonly [RefusalKind, RegExp])[] = [
  ['conflict', /merge conflict/i],
  ['auth', /refusing to allow .* without .*scope/i],
  ['network', /internal api (?:unreachable|error)/i],
  ['protected', /protected branch|\bGH0\d\d\b|rule violations|not allowed to push|hook declined/i],
  ['name_taken', /cannot lock ref .* exists; cannot create/i],
  ['diverged', /non-fast-forward|fetch first|stale info|\[rejected\]/i],
  ['host_key', /host key verification failed/i],
  ['no_ssh', /cannot run ssh|\bssh: (?:command )?not found|\bssh: no such file/i],
  [
    'auth',
    /authentication failed|could not read (?:username|password)|permission (?:to .* )?denied|access denied|returned error: 40[13]|publickey|write access .* not granted/i,
  ],
  [
    'not_found',
    /repository .*not found|returned error: 404|does not appear to be a git repository|project you were looking for/i,
  ],
  ['too_large', /returned error: 413/i],
  [
    'network',
    /could not resolve|couldn't connect|failed to connect|connection (?:refused|reset|closed|timed out)|timed out|unexpected disconnect|early eof|returned error: 5\d\d|returned error: 429|remote end hung up/i,
  ],
  // The reason stands in parentheses, after the name of the branch.
  ['rejected', /\[remote rejected\].*\((?!.*(?:internal|lock|time|again|unavailable|failed to))/i],
];

const REMEDIES: Readonly<Record<RefusalKind, string>> = {
  conflict: 'bring both together in the workspace of the issue by git merge, commit, then unpark the issue',
  auth: 'the credential may not do this: give the token write access to the repository, or check the SSH key',
  protected:
    'a rule of the forge refuses the push: allow pushes to foray/* for the account of the token, or take away what the rule names',
  name_taken: 'a branch of the remote has a name that leaves no room for the one of this issue: rename or delete it there',
  diverged: 'somebody else pushed to the branch: it is brought together with their commits and tried again',
  not_found: 'check workspace.repo, and that the credential may see the repository',
  host_key:
    'the key of the server is not the known one: compare it with what the forge publishes, then write it to ~/.ssh/known_hosts of the user of the service',
  no_ssh: 'install an SSH client where Foray runs, or write workspace.repo as an https address',
  too_large:
    'the server, or a proxy before it, takes no upload of this size: raise its limit, use an SSH address, or take large files out of the commits',
  network: 'the server could not be reached; it is tried again',
  rejected: 'the forge refuses the push, and would again: do what its message asks for',
  other: 'see the message of git',
};

/** Which refusals may heal by themselves. */
const RETRYABLE: Readonly<Record<RefusalKind, boolean>> = {
  conflict: false,
  auth: false,
  protected: false,
  name_taken: false,
  diverged: true,
  not_found: false,
  host_key: false,
  no_ssh: false,
  too_large: false,
  network: true,
  rejected: false,
  other: true,
};

export class GitRefusal extends WorkspaceError {
  readonly refusal: RefusalKind;
  /** What git said, for somebody else to make the same of it. */
  readonly said: string;

  constructor(what: string, stderr: string) {
    const refusal = refusalOf(stderr);
    super(what, `${lastWords(stderr)} (${REMEDIES[refusal]})`, { retryable: RETRYABLE[refusal] });
    this.name = 'GitRefusal';
    this.refusal = refusal;
    this.said = stderr.slice(-SAID_CHARACTERS);
  }
}

export function refusalOf(stderr: string): RefusalKind {
  return SIGNS.find(([, sign]) => sign.test(stderr))?.[0] ?? 'other';
}

const SHOWN_CHARACTERS = 400;
const SAID_CHARACTERS = 4_000;

/** What git said, in one line: the lines that carry the reason, or the last one. */
function lastWords(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const telling = lines.filter((line, at) => TELLING.test(line) || CUT_OFF.test(lines[at + 1] ?? ''));
  const kept = telling.length > 0 ? telling : lines.slice(-1);
  return kept.join(' | ').slice(0, SHOWN_CHARACTERS);
}

const TELLING = /^(?:remote:|fatal:|error:|!)/;
/** All that git knows when ssh ends early. Why it did stands in the line before, which ssh or the shell wrote. */
const CUT_OFF = /^fatal: could not read from remote repository/i;
