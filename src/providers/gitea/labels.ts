import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { normalState, stateIn } from '../../domain/model/issue.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { LogAttributes, Logger } from '../../ports/runtime.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { createLastTold } from '../../lib/last-told.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { issuePath } from './client.ts';
import type { WireIssue, WireLabel } from './schema.ts';
import { LABEL } from './schema.ts';
import { KIND } from './settings.ts';

/**
 * The labels of the repository and of its issues, by id: the remote answers 200 to an unknown name and attaches nothing,
 * and it does not remove by name at all.
 */
export interface Labels {
  ofRepository(signal: AbortSignal): Promise<readonly WireLabel[]>;
  /** Empty when the owner is no organization. */
  ofOrganization(signal: AbortSignal): Promise<readonly WireLabel[]>;
  /** Attaches the label of this name, whatever its case, and creates it first where the repository has none. */
  attach(id: string, name: string, signal: AbortSignal): Promise<readonly WireLabel[]>;
  /** Takes these labels off an issue. Says whether each was there to be taken: one that is gone already is fine. */
  detach(id: string, labels: readonly WireLabel[], signal: AbortSignal): Promise<boolean>;
}

const COLOR = '#cccccc';
const LIST = z.array(z.unknown());

export function createLabels(reader: PageReader, repository: RepoKey): Labels {
  const { http } = reader;
  const { owner, repo } = repository;
  const catalog = path`/repos/${owner}/${repo}/labels`;
  const inTurn = createTurns();

  // The server tells the total of this list and links to no next page.
  const listed = async (route: string, signal: AbortSignal) => {
    const entries = (response: HttpResponse) => http.decode('GET', LIST, response);
    return http.records(LABEL, await readNumbered(reader, { path: route, entries, linked: true, pageCap: 200 }, signal), route);
  };
  // Gitea API, "Get all of a repository's labels".
  const ofRepository = (signal: AbortSignal) => listed(catalog, signal);
  const find = async (name: string, signal: AbortSignal) => labelNamed(name, await ofRepository(signal));
  const create = (name: string, signal: AbortSignal) =>
    // Gitea API, "Create a label".
    http.sendJson('POST', LABEL, { path: catalog, body: { name, color: COLOR } }, signal);
  // The remote accepts two labels of one name, so two calls that both miss it must not both create it.
  const findOrCreate = async (name: string, signal: AbortSignal) =>
    (await find(name, signal)) ?? inTurn(async () => (await find(name, signal)) ?? (await create(name, signal)));

  return {
    ofRepository,
    // Gitea API, "List an organization's labels".
    ofOrganization: (signal) => whenMissing(listed(path`/orgs/${owner}/labels`, signal), []),
    attach: async (id, name, signal) => {
      const route = `${issuePath(repository, id)}/labels`;
      const label = await findOrCreate(name, signal);
      // Gitea API, "Add a label to an issue".
      const answer = await http.sendJson('POST', LIST, { path: route, body: { labels: [label.id] } }, signal);
      const now = http.records(LABEL, answer, route);
      if (labelNamed(name, now)) return now;
      throw new TrackerError({
        kind: 'tracker_payload_error',
        method: 'POST',
        path: route,
        detail: `the label ${JSON.stringify(name)} was accepted but issue ${id} does not carry it`,
      });
    },
    detach: async (id, labels, signal) => {
      let areGone = true;
      for (const label of labels)
        areGone = (await isDetached(http, `${issuePath(repository, id)}/labels/${label.id}`, signal)) && areGone;
      return areGone;
    },
  };
}

/** The label of a name: its exact spelling where there is one, else any that differs only in case. */
export function labelNamed(name: string, labels: readonly WireLabel[]): WireLabel | undefined {
  return labels.find((label) => label.name === name) ?? labels.find((label) => normalState(label.name) === normalState(name));
}

// 404 and 422 mean that the issue does not carry the label, or that the label itself was deleted meanwhile.
async function isDetached(http: TrackerHttp, route: string, signal: AbortSignal): Promise<boolean> {
  try {
    // Gitea API, "Remove a label from an issue".
    await http.send('DELETE', { path: route }, signal);
    return true;
  } catch (error) {
    if (!(error instanceof TrackerError) || (error.status !== 404 && error.status !== 422)) throw error;
    return false;
  }
}

/** Runs one at a time. A waiting caller waits at most for the requests before it, each of which has its own deadline. */
function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const mine = last.then(run, run);
    last = mine;
    return mine;
  };
}

/** What the operator is told about labels. A poll repeats, so each thing is said once until it changes. */
export interface Notes {
  /** An open issue that carries several state labels. */
  severalStates(issue: WireIssue, matches: readonly string[]): void;
  /** The open issues of the list, some of which may lack a label that `query_filter` asks for. */
  filtered(issues: readonly WireIssue[]): void;
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
  const several = createLastTold<number>();
  let lastStateless = 0;
  let isUnfiltered = false;
  let checked = settings.activeStates.length + settings.filterLabels.length === 0;
  let failed = false;

  return {
    severalStates: ({ number }, matches) => {
      const told = matches.join(', ');
      if (matches.length < 2) several.forget(number);
      if (matches.length < 2 || !several.isNews(number, told)) return;
      const id = String(number);
      logger.warn('issue carries several state labels, the first is kept', {
        ...facts,
        issue_id: id,
        issue_identifier: id,
        labels: told,
        state: matches[0],
      });
    },
    filtered: (issues) => {
      const lacks = (issue: WireIssue, name: string) => !issue.labels.some((label) => label.name === name);
      const other = issues.find((issue) => settings.filterLabels.some((name) => lacks(issue, name)));
      if (other && !isUnfiltered) {
        const labels = settings.filterLabels.filter((name) => lacks(other, name)).join(', ');
        const about = { ...facts, issue_identifier: String(other.number), labels };
        logger.warn('query_filter is not kept to, issues without its labels are taken', about);
      }
      isUnfiltered = other !== undefined;
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

export function labelFault(repository: RepoKey, id: string, method: string, detail: string): TrackerError {
  return new TrackerError({ kind: 'tracker_payload_error', method, path: `${issuePath(repository, id)}/labels`, detail });
}

/** A label that the remote took off, as it said, and that is there all the same. */
export function stillCarried(repository: RepoKey, id: string, label: string): TrackerError {
  return labelFault(repository, id, 'DELETE', `the label ${JSON.stringify(label)} was removed but issue ${id} still carries it`);
}
