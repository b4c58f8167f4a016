import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WorkspaceError } from '../../src/domain/model/errors.ts';
import type { WorkspaceSubject } from '../../src/ports/workspace.ts';
import type { DataFileDeps } from '../../src/workspace/data-file.ts';
import { parseScm, readScmFile, SCM_BYTES } from '../../src/workspace/scm-file.ts';
import { parseStatus, readStatusFile, STATUS_BYTES } from '../../src/workspace/status-file.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { isSampled, type Target } from './target.ts';

/** So many inputs for one that is written to a file and read back by the real reader. */
const WRITTEN_ONE_IN = 20;
const silent = (): void => {};
const LOGGER = { debug: silent, info: silent, warn: silent, error: silent };
const SUBJECT = { issueId: '1', identifier: 'A-1' } as WorkspaceSubject;
const maskSecrets = (text: string): string => text;

interface AgentFile<T> {
  /** In the data folder of the workspace. */
  readonly file: string;
  parse(text: string): T;
  read(subject: WorkspaceSubject, workspace: string, deps: DataFileDeps): Promise<T | null>;
  /** Throws when it is not what it may be. */
  check(found: T): void;
  /** A longer file is cut or refused before it is parsed. */
  readonly maxBytes: number;
}

/** Every input through the parser; some through a file as well, which must come to the same. */
function taking<T>({ file, parse, read, check, maxBytes }: AgentFile<T>): Target['take'] {
  let root: string | null = null;
  return async (input, thorough) => {
    const parsed = parsedOrNull(() => parse(input));
    if (parsed !== null) check(parsed);
    if (!thorough && !isSampled(input, WRITTEN_ONE_IN)) return;
    root ??= makeRoot();
    const workspace = path.join(root, 'A-1');
    writeFileSync(path.join(workspace, '.foray', file), input);
    const found = await read(SUBJECT, workspace, { root, logger: LOGGER, maskSecrets });
    if (found !== null) check(found);
    // A lone half of a character is written as another one.
    const isKept = Buffer.byteLength(input) <= maxBytes && Buffer.from(input).toString() === input;
    if (isKept && !isDeepStrictEqual(found, parsed)) throw new Error('the file was read as something else');
  };
}

function parsedOrNull<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof WorkspaceError) return null;
    throw error;
  }
}

/** Gone when the process ends. */
function makeRoot(): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'foray-fuzz-'));
  mkdirSync(path.join(root, 'A-1', '.foray'), { recursive: true });
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  return root;
}

const status: Target = {
  name: 'status file',
  make: (chance) =>
    mutateText(
      chance.pick(['blocked\nThe API key is missing.\n', 'needs-human-review\nLook.', 'no-change-needed\n', 'done\n']),
      chance,
    ),
  take: taking({
    file: 'status',
    parse: (text) => parseStatus(text, { maskSecrets }),
    read: readStatusFile,
    check({ word, statement }) {
      if (!['blocked', 'needs-human-review', 'no-change-needed'].includes(word)) throw new Error(word);
      // oxlint-disable-next-line no-control-regex -- exactly these must not appear
      if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(statement)) throw new Error('a control character in a statement');
    },
    maxBytes: STATUS_BYTES,
  }),
};

const SCM = {
  branch: 'foray/A-1',
  sha: 'deadbeefcafe',
  pushed_at: '2026-01-01T00:00:00Z',
  pr_number: 7,
  owner: 'acme',
  repo: 'shop',
};

const scm: Target = {
  name: 'scm file',
  make: (chance) =>
    chance.happens(0.5) ? JSON.stringify(mutateJson(SCM, chance, 0.2)) : mutateText(JSON.stringify(SCM), chance),
  take: taking({
    file: 'scm.json',
    parse: parseScm,
    read: readScmFile,
    check({ branch, sha, prNumber, owner, repo }) {
      const parts = [...owner.split('/'), ...repo.split('/')];
      if (parts.some((part) => part === '' || part === '.' || part === '..')) throw new Error('a path that climbs');
      if ([branch, owner, repo].some((word) => /[\s\p{C}]/u.test(word))) throw new Error('a blank or a control character');
      if (!/^[0-9a-f]*$/i.test(sha) || !Number.isSafeInteger(prNumber) || prNumber < 1) throw new Error('no commit or number');
    },
    maxBytes: SCM_BYTES,
  }),
};

export const AGENT_FILES: readonly Target[] = [status, scm];
