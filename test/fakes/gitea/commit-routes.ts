import type { Instance, Routes } from './answer.ts';
import { failure, notFound, ok, page, slice, write } from './answer.ts';
import type { FakeStatus } from './pull-store.ts';
import { addStatus, commitOf, latestStatuses } from './pull-store.ts';
import { combinedBody, statusBody } from './pull-wire.ts';

/** Commit statuses and branches. */
export function commitRoutes(instance: Instance): Routes {
  const { store, base } = instance;
  return {
    'GET /commits/:ref/status': (request, { ref = '' }) => {
      const sha = commitOf(store, ref);
      if (sha === undefined) return notFound(instance);
      const all = latestStatuses(store.commits.get(sha) ?? []);
      const items = slice(instance, request, all).items as readonly FakeStatus[];
      // Older servers write nothing at all where a page is empty.
      if (items.length === 0 && instance.emptyStatusBody) return { status: 200 };
      const { headers } = page(instance, request, all);
      return { status: 200, body: combinedBody(store, sha, items, base()), headers };
    },
    'POST /statuses/:sha': write(instance, (request, { sha = '' }) => {
      if (!store.commits.has(sha)) return notFound(instance);
      const form = request.json() as { context?: string; state?: string; description?: string; target_url?: string };
      const { context, state: status, description, target_url: targetUrl } = form;
      return ok(statusBody(addStatus(store, sha, { context, status, description, targetUrl }), base()), 201);
    }),
    'GET /branches/:branch': (_, { branch = '' }) => {
      const sha = store.branches.get(branch);
      return sha === undefined ? notFound(instance) : ok({ name: branch, commit: { id: sha }, protected: branch === 'main' });
    },
    'DELETE /branches/:branch': write(instance, (_, { branch = '' }) => {
      if (!store.branches.has(branch)) return notFound(instance);
      if (!instance.mayPush) return failure(instance, 403, 'user should have a permission to write to the repository branch');
      if (branch === 'main') return failure(instance, 403, 'can not delete default or pull request target branch');
      store.branches.delete(branch);
      return { status: 204 };
    }),
  };
}
