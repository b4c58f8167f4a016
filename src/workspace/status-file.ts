import { WorkspaceError } from '../domain/model/errors.ts';
import type { AgentStatus, AgentStatusWord } from '../domain/model/agent-event.ts';
import { readDataFile } from './containment.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { ignoredFacts, type DataFileDeps } from './data-file.ts';
import { withoutControls } from '../lib/without-controls.ts';

const WORDS: readonly AgentStatusWord[] = ['blocked', 'needs-human-review', 'no-change-needed'];
export const STATUS_BYTES = 64 * 1024;

/** What the agent said in `.foray/status`: one of three words, then its statement. Anything else is ignored aloud. */
export async function readStatusFile(
  subject: WorkspaceSubject,
  workspace: string,
  deps: DataFileDeps,
): Promise<AgentStatus | null> {
  try {
    const file = await readDataFile(deps.root, workspace, { name: 'status', maxBytes: STATUS_BYTES });
    return file === null ? null : parseStatus(file.bytes.toString('utf8'), deps);
  } catch (error) {
    deps.logger.warn('status file ignored', ignoredFacts(subject, workspace, error));
    return null;
  }
}

export function parseStatus(text: string, deps: Pick<DataFileDeps, 'maskSecrets'>): AgentStatus {
  const [first = '', ...rest] = text.split('\n');
  const word = WORDS.find((candidate) => candidate === first.trim());
  if (word === undefined) {
    const shown = deps.maskSecrets(withoutControls(first.trim())).slice(0, 80);
    throw new WorkspaceError('status', `the first line must be one of ${WORDS.join(', ')}, it is "${shown}"`, {
      retryable: false,
    });
  }
  return { word, statement: deps.maskSecrets(withoutControls(rest.join('\n'))).trim() };
}
