import type { Instance, Routes } from './answer.ts';
import { failure, notFound, ofIssue, ok, counted, write } from './answer.ts';
import type { FakeIssue, FakeLabel } from './store.ts';
import { addLabel, labelsOf, setLabels } from './store.ts';
import { labelBody } from './wire.ts';

/** Labels of the repository and of one issue. */
export function labelRoutes(instance: Instance): Routes {
  const { store } = instance;
  const shown = (labels: readonly FakeLabel[]) => labels.map((label) => labelBody(store, label, instance.base()));
  const set = (issue: FakeIssue, ids: readonly number[]) => setLabels(store, issue, { ids, actor: instance.login });
  const carried = (issue: FakeIssue) => ok(shown(labelsOf(store, issue)));
  return {
    'GET /labels': (request) => counted(instance, request, shown(store.labels.filter((label) => !label.ofOrganization))),
    // Two labels of one name are no conflict here.
    'POST /labels': write(instance, (request) => {
      const { name, color } = request.json() as { name?: string; color?: string };
      if (!name) return failure(instance, 422, '[Name]: Required');
      if (!color) return failure(instance, 422, '[Color]: Required');
      if (!/^#?[0-9a-f]{6}$/i.test(color)) return failure(instance, 422, `bad colour code: ${color}`);
      return ok(labelBody(store, addLabel(store, name, { color: color.replace('#', '') }), instance.base()), 201);
    }),
    'GET /issues/:index/labels': ofIssue(instance, carried),
    'POST /issues/:index/labels': write(
      instance,
      ofIssue(instance, (issue, request) => {
        set(issue, [...issue.labelIds, ...known(instance, request.json())]);
        return carried(issue);
      }),
    ),
    'PUT /issues/:index/labels': write(
      instance,
      ofIssue(instance, (issue, request) => {
        set(issue, known(instance, request.json()));
        return carried(issue);
      }),
    ),
    // By id only. A label that exists and is not carried is removed with success.
    'DELETE /issues/:index/labels/:id': write(
      instance,
      ofIssue(instance, (issue, _, { id }) => {
        const label = store.labels.find((one) => String(one.id) === id);
        if (!label) return failure(instance, 422, `label does not exist [label_id: ${id}]`);
        set(
          issue,
          [...issue.labelIds].filter((one) => one !== label.id),
        );
        return { status: 204 };
      }),
    ),
  };
}

export function organizationRoutes(instance: Instance): Routes {
  const { store } = instance;
  return {
    'GET /orgs/:org/labels': (request, { org }) => {
      if (!instance.ownerIsOrganization || org !== store.owner) return notFound(instance);
      const labels = store.labels.filter((label) => label.ofOrganization);
      return counted(
        instance,
        request,
        labels.map((label) => labelBody(store, label, instance.base())),
      );
    },
  };
}

// Ids or names; what is not known is left out and nobody is told.
function known({ store }: Instance, body: unknown): readonly number[] {
  const { labels = [] } = body as { labels?: readonly unknown[] };
  const named = (wanted: unknown) => store.labels.filter(({ id, name }) => id === wanted || name === wanted);
  return labels.flatMap(named).map(({ id }) => id);
}
