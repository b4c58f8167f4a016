import type { RecordedRequest, Reply, RouteHandler } from '../../support/http-server.ts';
import { json } from '../../support/http-server.ts';
import { answers, bodyOf, listOf, page } from './answer.ts';
import { userEntity, userId } from './wire.ts';
import {
  approvalsEntity,
  labelEventEntity,
  mergeRequestDetail,
  mergeRequestEntity,
  pipelineEntity,
  reviewerEntity,
  reviewNoteEntity,
  trainCarEntity,
} from './merge-wire.ts';
import type { FakeMergeRequest, MergeWorld } from './merge-store.ts';
import { addReviewNote, changeLabels, commitName, createMergeRequest, statusOf } from './merge-store.ts';

export interface MergeContext {
  readonly merges: MergeWorld;
  origin(): string;
  readonly maxPerPage: number;
}

type InProject = (handle: RouteHandler) => RouteHandler;

/** The routes of merge requests and users. `inProject` lets only those in who may see the project. */
export function mergeRoutes(context: MergeContext, inProject: InProject): Readonly<Record<string, RouteHandler>> {
  const one = (handle: (request: RecordedRequest, found: FakeMergeRequest) => Reply): RouteHandler =>
    inProject((request, { iid = '' }) => {
      const found = context.merges.requests.get(Number(iid));
      return found ? handle(request, found) : answers.resourceMiss();
    });
  const all = '/api/v4/projects/:project/merge_requests';
  return {
    'GET /api/v4/user': () => json(userEntity(context.origin(), 'foray-bot')),
    'GET /api/v4/users/:id': (_, { id }) => showUser(context, Number(id)),
    'GET /api/v4/projects/:project/members/all/:id': inProject((_, { id }) => {
      const member = [...context.merges.members].find(([username]) => userId(username) === Number(id));
      return member ? json({ id: Number(id), username: member[0], access_level: member[1] }) : answers.resourceMiss();
    }),
    'POST /api/v4/projects/:project/merge_trains/merge_requests/:iid': one((request, found) => {
      if (statusOf(found) !== 'mergeable') return json({ message: '405 Method Not Allowed' }, 405);
      if (bodyOf(request)['sha'] !== found.sha) return answers.conflict('SHA does not match HEAD of source branch');
      if (found.onTrain) return answers.badRequest('the merge request is already on a merge train');
      found.onTrain = true;
      return json([trainCarEntity(context.origin(), context.merges, found)], 201);
    }),
    'GET /api/v4/projects/:project/merge_trains/merge_requests/:iid': one((_, found) =>
      found.onTrain ? json(trainCarEntity(context.origin(), context.merges, found)) : answers.resourceMiss(),
    ),
    [`GET ${all}`]: inProject((request) => listRequests(context, request)),
    [`POST ${all}`]: inProject((request) => postRequest(context, request)),
    [`GET ${all}/:iid`]: one((_, found) => showRequest(context, found)),
    [`PUT ${all}/:iid`]: one((request, found) => putRequest(context, request, found)),
    [`PUT ${all}/:iid/merge`]: one((request, found) => mergeRequest(context, request, found)),
    [`GET ${all}/:iid/reviewers`]: one((_, { reviewers }) =>
      json(reviewers.map((reviewer) => reviewerEntity(context.origin(), reviewer))),
    ),
    [`GET ${all}/:iid/approvals`]: one((_, found) => json(approvalsEntity(context.origin(), found))),
    [`GET ${all}/:iid/notes`]: one((request, found) => listNotes(context, request, found)),
    [`POST ${all}/:iid/notes`]: one((request, found) => postNote(context, request, found)),
    [`GET ${all}/:iid/resource_label_events`]: one((request, found) =>
      page(request, found.labelEvents, {
        maxPerPage: context.maxPerPage,
        show: (event) => labelEventEntity(context.origin(), found, event),
      }),
    ),
    [`GET ${all}/:iid/pipelines`]: one((request, found) => listPipelines(context, request, found)),
  };
}

function showUser({ merges, origin }: MergeContext, id: number): Reply {
  const known = [...merges.users].find(([username]) => userId(username) === id);
  if (!known) return json({ message: '404 User Not Found' }, 404);
  const [username, bot] = known;
  return json({ ...userEntity(origin(), username), bot });
}

function listRequests({ merges, origin, maxPerPage }: MergeContext, request: RecordedRequest): Reply {
  const state = request.query.get('state') ?? 'all';
  if (!['opened', 'closed', 'locked', 'merged', 'all'].includes(state)) {
    return answers.badParameter('state does not have a valid value');
  }
  const branch = request.query.get('source_branch');
  const found = [...merges.requests.values()]
    .filter((one) => (state === 'all' || one.state === state) && (branch === null || one.sourceBranch === branch))
    .toReversed();
  return page(request, found, { maxPerPage, show: (one) => mergeRequestEntity(origin(), merges, one) });
}

function showRequest({ merges, origin }: MergeContext, found: FakeMergeRequest): Reply {
  const shown = json(mergeRequestDetail(origin(), merges, found));
  found.settling = Math.max(0, found.settling - 1);
  return shown;
}

function postRequest(context: MergeContext, request: RecordedRequest): Reply {
  const { source_branch: sourceBranch, target_branch: targetBranch, title } = bodyOf(request) as Record<string, string>;
  if (!sourceBranch || !targetBranch || !title) return answers.badParameter('title, source_branch, target_branch are missing');
  const { merges } = context;
  const sha = merges.branches.get(sourceBranch);
  if (sha === undefined) return answers.modelErrors({ source_branch: ['does not exist'] });
  const same = [...merges.requests.values()].find((one) => one.state === 'opened' && one.sourceBranch === sourceBranch);
  if (same) return answers.conflict(`Another open merge request already exists for this source branch: !${same.iid}`);
  const made = createMergeRequest(merges, { sourceBranch, targetBranch, title, sha, author: 'foray-bot' });
  return json(mergeRequestDetail(context.origin(), merges, made), 201);
}

function putRequest(context: MergeContext, request: RecordedRequest, found: FakeMergeRequest): Reply {
  const body = bodyOf(request);
  const event = body['state_event'];
  if (event !== undefined && event !== 'close' && event !== 'reopen') {
    return answers.badParameter('state_event does not have a valid value');
  }
  changeLabels(context.merges, found, {
    add: listOf(body['add_labels']) ?? [],
    remove: listOf(body['remove_labels']) ?? [],
    actor: 'foray-bot',
  });
  if (event) found.state = event === 'close' ? 'closed' : 'opened';
  return showRequest(context, found);
}

// In the vendor's order: who may, whether it can be merged at all (without a word why not), then the head.
function mergeRequest(context: MergeContext, request: RecordedRequest, found: FakeMergeRequest): Reply {
  const { sha, squash } = bodyOf(request);
  if (context.merges.protectedBranches.has(found.targetBranch)) return answers.unauthorized();
  if (statusOf(found) !== 'mergeable') return json({ message: '405 Method Not Allowed' }, 405);
  if (sha !== undefined && sha !== found.sha) {
    return answers.conflict(`SHA does not match HEAD of source branch: ${found.sha}`);
  }
  // Only ever switched on by this route: `false` is not looked at.
  if (squash) found.squash = true;
  found.state = 'merged';
  found.mergeCommitSha = commitName(`merge ${found.iid}`);
  if (found.squash) found.squashCommitSha = commitName(`squash ${found.iid}`);
  context.merges.branches.set(found.targetBranch, found.mergeCommitSha);
  return showRequest(context, found);
}

function listNotes({ origin, maxPerPage }: MergeContext, request: RecordedRequest, found: FakeMergeRequest): Reply {
  const onlyComments = request.query.get('activity_filter') === 'only_comments';
  const wanted = found.notes.filter(({ system }) => !onlyComments || !system);
  const ordered = request.query.get('sort') === 'asc' ? wanted : wanted.toReversed();
  return page(request, ordered, { maxPerPage, show: (note) => reviewNoteEntity(origin(), found, note) });
}

function postNote({ merges, origin }: MergeContext, request: RecordedRequest, found: FakeMergeRequest): Reply {
  const { body } = bodyOf(request);
  if (body === undefined) return answers.badParameter('body is missing');
  const note = addReviewNote(merges, found, { body: String(body), author: 'foray-bot' });
  return json(reviewNoteEntity(origin(), found, note), 201);
}

function listPipelines({ merges, origin, maxPerPage }: MergeContext, request: RecordedRequest, found: FakeMergeRequest): Reply {
  const own = merges.pipelines.filter(({ ref }) => ref.startsWith(`refs/merge-requests/${found.iid}/`)).toReversed();
  return page(request, own, { maxPerPage, show: (one) => pipelineEntity(origin(), merges, one) });
}
