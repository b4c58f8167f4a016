import type { ProgramUser } from '../lib/process/index.ts';
import type { Logger } from '../ports/runtime.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import type { DirectoryChoice, SignedRoot } from './choose-directory.ts';
import type { Delivery } from './delivery.ts';
import { hasWorkSince, lookAtWork } from './evidence.ts';
import { putWorkNote, readWorkNote } from './work-note.ts';

type Directory = Pick<DirectoryChoice, 'name' | 'path'>;

/** What the work of runs is held against: what was there before them, and before those that did not end well. */
export interface WorkBefore {
  /** Before the hook, whose changes are nobody's work: finds what a run left that did not end well. */
  recall(subject: WorkspaceSubject, directory: Directory, signal: AbortSignal): Promise<void>;
  /** After it: the look that is kept, or a new one. */
  take(subject: WorkspaceSubject, directory: Directory, signal: AbortSignal): Promise<string>;
  /** Whether there is more in the workspace than at that look. */
  isPassed(before: string, workspace: string, signal: AbortSignal): Promise<boolean>;
  /** The run is over. */
  forget(subject: WorkspaceSubject): void;
}

export function createWorkBefore(
  place: () => SignedRoot,
  user: ProgramUser | null,
  { delivery, logger }: { readonly delivery: Pick<Delivery, 'mend'> | null; readonly logger: Logger },
): WorkBefore {
  const unsettled = new Map<string, string>();
  const keyOf = ({ tracker, issueId }: WorkspaceSubject): string => `${tracker} ${issueId}`;
  const isPassed = async (before: string, workspace: string, signal: AbortSignal): Promise<boolean> => {
    await delivery?.mend(signal);
    const onTooMuch = (): void => logger.warn('workspace holds more than is looked at, a change counts as made', { workspace });
    return hasWorkSince(before, workspace, { signal, user }, onTooMuch);
  };
  return {
    async recall(subject, { name, path: workspace }, signal) {
      const note = readWorkNote(place(), name, subject);
      if (note !== null && (await isPassed(note, workspace, signal))) unsettled.set(keyOf(subject), note);
      else unsettled.delete(keyOf(subject));
    },
    async take(subject, { name, path: workspace }, signal) {
      const earlier = unsettled.get(keyOf(subject));
      if (earlier !== undefined) return earlier;
      const before = await lookAtWork(workspace, { signal, user });
      putWorkNote(place(), name, subject, before);
      return before;
    },
    isPassed,
    forget: (subject) => void unsettled.delete(keyOf(subject)),
  };
}
