import type { RepoKey } from '../../ports/scm.ts';
import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { normalState } from '../../domain/model/issue.ts';
import { path } from '../../lib/http/index.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { issuePath } from './client.ts';
import type { WireLabel } from './schema.ts';
import { LABEL } from './schema.ts';
import { PAGE_SIZE } from './settings.ts';

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
  /** Takes these labels off an issue. One that is gone already is fine. */
  detach(id: string, labels: readonly WireLabel[], signal: AbortSignal): Promise<void>;
}

const COLOR = '#cccccc';
const LIST = z.array(z.unknown());

export function createLabels(http: TrackerHttp, repository: RepoKey): Labels {
  const { owner, repo } = repository;
  const catalog = path`/repos/${owner}/${repo}/labels`;
  const query = { limit: PAGE_SIZE };
  const inTurn = createTurns();

  const ofRepository = (signal: AbortSignal) => http.getRecords(LABEL, { path: catalog, query }, signal);
  const find = async (name: string, signal: AbortSignal) => labelNamed(name, await ofRepository(signal));
  const create = (name: string, signal: AbortSignal) =>
    http.sendJson('POST', LABEL, { path: catalog, body: { name, color: COLOR } }, signal);
  // The remote accepts two labels of one name, so two calls that both miss it must not both create it.
  const findOrCreate = async (name: string, signal: AbortSignal) =>
    (await find(name, signal)) ?? inTurn(async () => (await find(name, signal)) ?? (await create(name, signal)));

  return {
    ofRepository,
    ofOrganization: (signal) => whenMissing(http.getRecords(LABEL, { path: path`/orgs/${owner}/labels`, query }, signal), []),
    attach: async (id, name, signal) => {
      const route = `${issuePath(repository, id)}/labels`;
      const label = await findOrCreate(name, signal);
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
      for (const label of labels) await detachOne(http, `${issuePath(repository, id)}/labels/${label.id}`, signal);
    },
  };
}

/** The label of a name: its exact spelling where there is one, else any that differs only in case. */
export function labelNamed(name: string, labels: readonly WireLabel[]): WireLabel | undefined {
  return labels.find((label) => label.name === name) ?? labels.find((label) => normalState(label.name) === normalState(name));
}

// 404 and 422 mean that the issue does not carry the label, or that the label itself was deleted meanwhile.
async function detachOne(http: TrackerHttp, route: string, signal: AbortSignal): Promise<void> {
  try {
    await http.send('DELETE', { path: route }, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || (error.status !== 404 && error.status !== 422)) throw error;
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
