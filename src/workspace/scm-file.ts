import { z } from 'zod';
import { WorkspaceError } from '../domain/model/errors.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import type { ScmRecord } from '../domain/model/agent-event.ts';
import { once } from '../lib/once.ts';
import { readDataFile } from './containment.ts';
import { ignoredFacts, type DataFileDeps } from './data-file.ts';

export const SCM_BYTES = 4_096;

/** One line of visible characters: these values end up in addresses and logs. */
const word = once(() => z.string().regex(/^[^\s\p{C}]+$/u, 'must be text without blanks or control characters'));

/** `owner` may be a path of groups. Dots alone would climb in an address. */
const segments = once(() =>
  word().refine((text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'), 'must be a plain path'),
);

/** A number as it is, or in quotes as scripts write it. */
const requestNumber = once(() =>
  z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^\d{1,15}$/)
          .transform(Number),
      ],
      'must be the number of the merge request',
    )
    .refine((number) => number > 0, 'must be the number of the merge request'),
);

/** What is no commit id counts as none. */
const commit = once(() =>
  z
    .string()
    .regex(/^[0-9a-f]+$/i)
    .nullish()
    .catch(null),
);

/** What names the request must be there. When and at which commit it was pushed is asked of the forge, so neither is needed. */
const scmSchema = once(() =>
  z.object({
    branch: word(),
    sha: commit(),
    pushed_at: z.string().nullish(),
    pr_number: requestNumber(),
    owner: segments(),
    repo: segments(),
  }),
);

/** The merge request that a run left behind, as named in `.foray/scm.json`. Anything unusable is ignored aloud. */
export async function readScmFile(subject: WorkspaceSubject, workspace: string, deps: DataFileDeps): Promise<ScmRecord | null> {
  try {
    const file = await readDataFile(deps.root, workspace, { name: 'scm.json', maxBytes: SCM_BYTES });
    if (file === null) return null;
    if (file.more) throw unusable(`it is longer than ${SCM_BYTES} bytes`);
    return parseScm(file.bytes.toString('utf8'));
  } catch (error) {
    deps.logger.warn('scm file ignored', ignoredFacts(subject, workspace, error));
    return null;
  }
}

export function parseScm(text: string): ScmRecord {
  const parsed = scmSchema().safeParse(decode(text));
  if (!parsed.success) {
    throw unusable(parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the record'}: ${issue.message}`).join('; '));
  }
  const { branch, sha, pushed_at: pushedAt, pr_number: prNumber, owner, repo } = parsed.data;
  return { branch, sha: sha ?? '', pushedAt: pushedAt ?? '', prNumber, owner, repo };
}

function decode(text: string): unknown {
  try {
    // Editors of some systems begin a file with a mark of its encoding.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    // The parser's own message quotes the text, which may hold anything.
    throw unusable('it is not valid JSON');
  }
}

function unusable(why: string): WorkspaceError {
  return new WorkspaceError('scm.json', why, { retryable: false });
}
