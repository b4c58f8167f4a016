import { z } from 'zod';
import type { ScmConnection } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { RequestOpener } from '../../ports/scm.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { shortText } from '../../lib/short-text.ts';
import { createClient, pageReader } from './client.ts';
import { ENTRIES } from './scm-schema.ts';
import { KIND, readScmSettings } from './settings.ts';

const SIDE = z.object({ ref: z.string(), repo_id: z.number() });
const REQUEST = z.object({ number: z.int().positive(), html_url: z.string().catch(''), head: SIDE, base: SIDE });

const END = z.object({ state: z.string(), merged: z.boolean().nullish() });

/** The longest title that is taken. */
const LONGEST_TITLE = 255;

/** Pull requests for branches of the repository itself. */
export function createRequests(connection: ScmConnection, deps: ProviderDeps): RequestOpener {
  const http = createClient(readScmSettings(connection), deps);
  const reader = pageReader(http, deps);
  return {
    kind: KIND,
    // Gitea API, "List a repo's pull requests": it knows no filter by branch, and shows open ones.
    async find({ owner, repo, branch }, signal) {
      const route = path`/repos/${owner}/${repo}/pulls`;
      const list = { path: route, entries: (answer: Parameters<typeof http.decode>[2]) => http.decode('GET', ENTRIES, answer) };
      const found = http.records(REQUEST, await readNumbered(reader, list, signal), route);
      const ours = found.find(({ head, base }) => head.ref === branch && head.repo_id === base.repo_id);
      return ours ? { number: ours.number, url: ours.html_url } : null;
    },
    // Gitea API, "Create a pull request".
    async open({ owner, repo, branch, base, title, body }, signal) {
      const order = { head: branch, base, title: shortText(title, LONGEST_TITLE), body };
      const made = await http.sendJson('POST', REQUEST, { path: path`/repos/${owner}/${repo}/pulls`, body: order }, signal);
      return { number: made.number, url: made.html_url };
    },
    // Gitea API, "Get a pull request".
    async endOf({ owner, repo, number }, signal) {
      const { state, merged } = await http.getJson(END, { path: path`/repos/${owner}/${repo}/pulls/${number}` }, signal);
      return merged === true ? 'merged' : state === 'closed' ? 'closed' : null;
    },
  };
}
