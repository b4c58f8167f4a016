import { TrackerError } from '../../domain/model/errors.ts';
import { stateIn } from '../../domain/model/issue.ts';
import type { LogAttributes, Logger } from '../../ports/runtime.ts';
import type { Labels } from './labels.ts';
import { labelNamed } from './labels.ts';
import type { WireIssue } from './schema.ts';
import { KIND } from './settings.ts';

/** What the operator is told about labels. A poll repeats, so each thing is said once until it changes. */
export interface Notes {
  /** An open issue that carries several state labels. */
  severalStates(issue: WireIssue, matches: readonly string[]): void;
  /** How many open issues were skipped because they carry none. */
  stateless(count: number): void;
  /** Configured names that no label answers to: asked of the remote at the first poll only. */
  missingLabels(labels: Labels, signal: AbortSignal): Promise<void>;
}

export interface NotesSettings {
  readonly project: string;
  readonly activeStates: readonly string[];
  /** The labels that `query_filter` asks for. */
  readonly filterLabels: readonly string[];
}

export function createNotes(settings: NotesSettings, logger: Logger): Notes {
  const facts = { tracker_kind: KIND, project: settings.project };
  const several = new Map<number, string>();
  let lastStateless = 0;
  let checked = settings.activeStates.length + settings.filterLabels.length === 0;
  let failed = false;

  return {
    severalStates: ({ number }, matches) => {
      const told = matches.join(', ');
      if (matches.length < 2) several.delete(number);
      if (matches.length < 2 || several.get(number) === told) return;
      several.set(number, told);
      const id = String(number);
      logger.warn('issue carries several state labels, the first is kept', {
        ...facts,
        issue_id: id,
        issue_identifier: id,
        labels: told,
        state: matches[0],
      });
    },
    stateless: (count) => {
      if (count === lastStateless) return;
      lastStateless = count;
      logger.info('open issues without a state label are skipped', { ...facts, count });
    },
    missingLabels: async (labels, signal) => {
      if (checked) return;
      checked = true;
      try {
        await warnOfMissing(settings, labels, { logger, facts }, signal);
      } catch (error) {
        // The poll itself worked, and these are only warnings: the next poll tries again.
        checked = false;
        if (!(error instanceof TrackerError)) throw error;
        if (!failed)
          logger.warn('labels could not be read, whether the configured ones exist is unknown', {
            ...facts,
            error: error.message,
          });
        failed = true;
      }
    },
  };
}

async function warnOfMissing(
  { activeStates, filterLabels }: NotesSettings,
  labels: Labels,
  { logger, facts }: { logger: Logger; facts: LogAttributes },
  signal: AbortSignal,
): Promise<void> {
  const repository = await labels.ofRepository(signal);
  const organization = activeStates.length === 0 ? [] : await readable(labels.ofOrganization(signal), logger, facts);
  const known = [...repository, ...organization];
  for (const [index, state] of activeStates.entries()) {
    if (labelNamed(state, known) || stateIn(activeStates.slice(0, index), state)) continue;
    logger.warn('active state has no label in the repository or its organization', { ...facts, state });
  }
  for (const name of filterLabels) {
    // Spelling counts here, and the remote looks only among the repository's own labels.
    if (repository.some((label) => label.name === name)) continue;
    logger.warn('query_filter names a label that does not resolve, the remote drops the whole label filter', {
      ...facts,
      label: name,
    });
  }
}

// A token with the minimal scopes may not read organization labels. That is no fault, the repository's are the usual ones.
async function readable<T>(read: Promise<readonly T[]>, logger: Logger, facts: LogAttributes): Promise<readonly T[]> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_auth_error') throw error;
    logger.debug('organization labels cannot be read with this token', { ...facts, error: error.message });
    return [];
  }
}
