import { z } from 'zod';
import type { ScmConnection } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { RequestOpener } from '../../ports/scm.ts';
import { shortText } from '../../lib/short-text.ts';
import { createClient } from './client.ts';
import { scmRemedies } from './scm-routes.ts';
import { KIND, LIST_PAGE, readScmSettings } from './settings.ts';

const REPOSITORY = z.object({ id: z.number() }).nullish();
const REQUEST = z.object({
  number: z.int().positive(),
  html_url: z.string().catch(''),
  head: z.object({ ref: z.string(), repo: REPOSITORY }),
  base: z.object({ repo: REPOSITORY }),
});

const END = z.object({ state: z.string(), merged: z.boolean().nullish() });

/** The longest title that is taken. */
const LONGEST_TITLE = 256;

/** Pull requests for branches of the repository itself. */
export function createRequests(connection: ScmConnection, deps: ProviderDeps): RequestOpener {
  const http = createClient(readScmSettings(connection), deps, { remedies: scmRemedies(connection) });
  return {
    kind: KIND,
    // REST API, "List pull requests".
    async find({ owner, repo, branch }, signal) {
      const query = { state: 'open', head: `${owner}:${branch}`, per_page: LIST_PAGE };
      const found = await http.getRecords(REQUEST, { path: path`/repos/${owner}/${repo}/pulls`, query }, signal);
      const ours = found.find(({ head, base }) => head.ref === branch && head.repo != null && head.repo.id === base.repo?.id);
      return ours ? { number: ours.number, url: ours.html_url } : null;
    },
    // REST API, "Create a pull request".
    async open({ owner, repo, branch, base, title, body }, signal) {
      const order = { head: branch, base, title: shortText(title, LONGEST_TITLE), body };
      const made = await http.sendJson('POST', REQUEST, { path: path`/repos/${owner}/${repo}/pulls`, body: order }, signal);
      return { number: made.number, url: made.html_url };
    },
    // REST API, "Get a pull request".
    async endOf({ owner, repo, number }, signal) {
      const { state, merged } = await http.getJson(END, { path: path`/repos/${owner}/${repo}/pulls/${number}` }, signal);
      return merged === true ? 'merged' : state === 'closed' ? 'closed' : null;
    },
  };
}
