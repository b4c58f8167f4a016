import { z } from 'zod';
import type { ScmConnection } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { RequestOpener } from '../../ports/scm.ts';
import { shortText } from '../../lib/short-text.ts';
import { KIND, readScmSettings, PAGE_SIZE } from './settings.ts';
import { openForge, openRepo } from './scm-routes.ts';

const REQUEST = z.object({
  iid: z.int().positive(),
  web_url: z.string().catch(''),
  source_branch: z.string(),
  source_project_id: z.number().nullish(),
  target_project_id: z.number(),
});

const END = z.object({ state: z.string() });

/** The longest title that is taken. */
const LONGEST_TITLE = 255;

/** Merge requests for branches of the project itself. */
export function createRequests(connection: ScmConnection, deps: ProviderDeps): RequestOpener {
  const forge = openForge(readScmSettings(connection), deps);
  return {
    kind: KIND,
    async find({ owner, repo, branch }, signal) {
      const { http, route } = openRepo(forge, { owner, repo });
      const query = { state: 'opened', source_branch: branch, per_page: PAGE_SIZE };
      // GitLab API, "Merge requests API": those of a project.
      const found = await http.getRecords(REQUEST, { path: `${route}/merge_requests`, query }, signal);
      const ours = found.find(
        (request) => request.source_branch === branch && request.source_project_id === request.target_project_id,
      );
      return ours ? { number: ours.iid, url: ours.web_url } : null;
    },
    async open({ owner, repo, branch, base, title, body }, signal) {
      const { http, route } = openRepo(forge, { owner, repo });
      const order = { source_branch: branch, target_branch: base, title: shortText(title, LONGEST_TITLE), description: body };
      // GitLab API, "Merge requests API": creating one.
      const made = await http.sendJson('POST', REQUEST, { path: `${route}/merge_requests`, body: order }, signal);
      return { number: made.iid, url: made.web_url };
    },
    async endOf({ owner, repo, number }, signal) {
      const { http, route } = openRepo(forge, { owner, repo });
      // GitLab API, "Merge requests API": a single one.
      const { state } = await http.getJson(END, { path: `${route}/merge_requests/${number}` }, signal);
      return state === 'merged' || state === 'closed' ? state : null;
    },
  };
}
