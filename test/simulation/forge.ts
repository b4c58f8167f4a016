import type { Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Fault, Answer } from '../../src/domain/model/fault.ts';
import type { Event, RunExit } from '../../src/domain/model/event.ts';
import type { ReviewCommentContext } from '../../src/domain/reactions/reviews.ts';
import type { ReactionKind } from '../../src/domain/model/reaction.ts';
import type { Findings } from '../../src/domain/model/findings.ts';
import type { ReactionSettings } from '../../src/domain/model/settings.ts';
import type { Chance } from '../support/random.ts';
import {
  commentAt,
  decisionFor,
  isHeard,
  isReady,
  newRequest,
  OWN_ACCOUNT,
  statusOf,
  STRANGER,
  type Request,
} from './merge-request.ts';
import { createTurnLedger } from './turn-ledger.ts';

/** The forge of the simulation: merge requests that people push to, review, label, merge and close. */
export interface SimulatedForge {
  /** What a run leaves in its workspace: it opens or pushes to the issue's merge request. */
  push(plan: RunPlan): RunExit['scm'];
  inspect(effect: Extract<Effect, { do: 'inspect' }>, now: number): Omit<Findings, 'issueState'>;
  merge(effect: Extract<Effect, { do: 'merge' }>): Extract<Event, { type: 'merge-answered' }>['outcome'];
  deleteBranch(number: number): void;
  removeLabel(number: number, label: string): void;
  /** A reaction queued a turn, with this to tell the agent: whose words are in it, and what a request may cost, is bounded. */
  noteQueued(issueId: string, kind: ReactionKind, comments: readonly ReviewCommentContext[], settings: ReactionSettings): void;
  /** A queued turn was dropped before it began. */
  noteDropped(issueId: string, kind: ReactionKind): void;
  /** An operator gave the budgets of an issue back. */
  forgive(issueId: string): void;
  /** Requests of other issues than these are watched no more. */
  watched(issueIds: ReadonlyMap<string, unknown>): void;
  /** These issues are parked: what their last runs had in hand counts as not given. */
  parked(issueIds: ReadonlyMap<string, unknown>): void;
  /** A turn started because of comments: they must not all have been given before. */
  noteTurn(plan: RunPlan): void;
  edit(now: number): void;
  calm(now: number): void;
}

/** The project that the tracker's issues have their requests in, and one of somebody else's. */
export interface ForgePlace {
  readonly owner: string;
  readonly repo: string;
  readonly foreign: { readonly owner: string; readonly repo: string };
}

interface ForgeOptions {
  readonly budget: number;
  readonly place: ForgePlace;
  /** A question may arrive more than once, or from more than one daemon. */
  readonly isAskedTwice?: boolean;
}

export function createSimulatedForge(
  chance: Chance,
  fault: Fault,
  { budget, place, isAskedTwice = false }: ForgeOptions,
  violated: (what: string) => void,
): SimulatedForge {
  const ledger = createTurnLedger(budget, violated);
  const requests = new Map<number, Request>();
  const byIssue = new Map<string, number>();
  /** Those that others merged while we asked for it: such a merge counts as ours, and its branch goes. */
  const countedAsOurs = new Set<number>();
  let counter = 0;
  let isCalm = false;
  const fresh = (): string => `sha${(counter += 1)}`;
  const maybe = <T>(value: T): Answer<T> => (!isCalm && chance.happens(0.1) ? { ok: false, fault } : { ok: true, value });

  function open(issueId: string): Request {
    const number = byIssue.get(issueId);
    const known = number === undefined ? undefined : requests.get(number);
    if (known && known.merged === 'no' && !known.closed) return known;
    const request = create(issueId);
    byIssue.set(issueId, request.number);
    return request;
  }

  function create(issueId: string | null): Request {
    const number = (counter += 1);
    const request = newRequest(number, fresh(), issueId);
    requests.set(request.number, request);
    return request;
  }

  /** Between two looks CI finishes and the forge makes up its mind. */
  function settle(request: Request): void {
    if (request.ci === 'pending' && chance.happens(0.4)) request.ci = chance.pick(['failing', 'failing', 'success']);
    if (request.mergeability === 'unknown' && chance.happens(0.4))
      request.mergeability = chance.pick(['clean', 'clean', 'dirty']);
  }

  return {
    push(plan) {
      if (!isCalm && chance.happens(0.2)) return null;
      if (!isCalm && chance.happens(0.08)) return lie(plan.issue.id);
      const request = open(plan.issue.id);
      if (chance.happens(0.8)) pushTo(request, 'us');
      return truth(request);
    },
    inspect({ watch, settings: { reactions } }) {
      const { owner, repo, number } = watch.mergeRequest;
      if (!isOwnProject(owner, repo)) violated(`a request of ${owner}/${repo} was asked about`);
      const request = requests.get(number);
      if (!request || (!isCalm && chance.happens(0.01))) return { merge: { ok: true, value: null } };
      if (!isCalm) settle(request);
      if (request.mergeability === 'clean') ledger.seenClean(watch.issue.id);
      const merge = maybe(statusOf(request));
      const decision = decisionFor(request, reactions);
      const findings = {
        merge,
        decision: maybe(decision),
        ciStatus: maybe(request.ci),
        ci: maybe({
          status: request.ci,
          checkRuns: [],
          failingCount: request.ci === 'failing' ? 1 : 0,
          logExcerpt: '',
          ref: request.head,
        }),
        reviews: maybe(request.comments.filter(({ reviewer }) => isHeard(reactions, reviewer))),
        botReviews: maybe([]),
        labels: maybe(request.events),
        scope: maybe({ mayMerge: 'yes', detail: '' } as const),
        queue: maybe(false),
        self: { ok: true, value: OWN_ACCOUNT } as const,
      };
      const readable = findings.merge.ok && findings.decision.ok && findings.ciStatus.ok;
      // Of two answers to one question the one that could not be read is not the one that is acted upon.
      if (readable || !isAskedTwice) request.ready.set(request.head, readable && isReady(request, decision));
      return findings;
    },
    merge({ request: { number, branch }, order }) {
      const request = requests.get(number);
      if (!request) return { kind: 'refused', fault, unsure: false };
      if (request.fork || branch !== `b${number}`) violated(`request ${number}, which is not managed, was merged`);
      if (request.merged === 'by us') violated(`request ${number} merged twice`);
      if (request.ready.get(order.expectedSha) !== true) violated(`request ${number} merged on a reading that was not ready`);
      if (request.merged === 'by others') {
        countedAsOurs.add(number);
        return { kind: 'merged' };
      }
      if (request.head !== order.expectedSha || request.closed || (!isCalm && chance.happens(0.2)))
        return { kind: 'refused', fault, unsure: false };
      request.merged = 'by us';
      return { kind: 'merged' };
    },
    deleteBranch(number) {
      if (requests.get(number)?.merged !== 'by us' && !countedAsOurs.has(number))
        violated(`branch of request ${number} deleted without a merge of ours`);
    },
    removeLabel(number, label) {
      requests.get(number)?.labels.delete(label);
    },
    noteQueued(issueId, kind, comments, settings) {
      ledger.queued(issueId, kind);
      const stranger = comments.find(({ reviewer }) => reviewer === STRANGER && !isHeard(settings, reviewer));
      if (stranger) violated(`a stranger started a turn of ${kind} on issue ${issueId}`);
    },
    noteDropped: ledger.dropped,
    forgive: ledger.forget,
    watched(issueIds) {
      for (const issueId of ledger.issues()) if (!issueIds.has(issueId)) ledger.forget(issueId);
      // A finished issue that is opened again begins anew, with the comments that still stand on its request.
      for (const [issueId, number] of byIssue) if (!issueIds.has(issueId)) requests.get(number)?.given.clear();
    },
    parked(issueIds) {
      for (const issueId of issueIds.keys()) {
        const request = requests.get(byIssue.get(issueId) ?? -1);
        for (const id of request?.inHand ?? []) request?.given.delete(id);
      }
    },
    noteTurn(plan) {
      const comments = plan.reaction?.reviewComments;
      if (comments?.some(({ reviewer }) => reviewer === OWN_ACCOUNT)) violated('our own words were given back to an agent');
      if (comments?.some(({ reviewer }) => !isHeard(plan.settings.reactions, reviewer)))
        violated(`a stranger speaks in the prompt of run ${plan.runId}`);
      const request = requests.get(byIssue.get(plan.issue.id) ?? -1);
      if (request) request.inHand = comments?.map(({ id }) => id) ?? [];
      if (!comments || !request) return;
      const ids = comments.map(({ id }) => id);
      const isNew = ids.some((id) => !request.given.has(id));
      // A turn that is tried again has what still counts of its comments.
      const isAgain = ids.every((id) => request.lastGiven.includes(id));
      if (!isNew && !isAgain) violated(`comments of request ${request.number} given twice`);
      request.lastGiven = ids;
      for (const id of ids) request.given.add(id);
    },
    edit(now) {
      const all = [...requests.values()].filter((request) => request.merged === 'no' && !request.closed);
      if (all.length === 0) return;
      const request = chance.pick(all);
      const at = new Date(now).toISOString();
      chance.pick([
        () => (request.ci = chance.pick(['success', 'failing', 'pending'])),
        () => (request.ci = 'success'),
        () => (request.mergeability = chance.pick(['clean', 'clean', 'dirty', 'unknown', 'blocked'])),
        () => (request.decision = chance.pick(['APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED', 'NOT_REQUIRED'])),
        () => request.comments.push(commentAt(String((counter += 1)), at, chance.pick(['eve', OWN_ACCOUNT]))),
        () => request.comments.push(commentAt(String((counter += 1)), at, STRANGER)),
        () => (request.strangerApproves = chance.happens(0.5)),
        () => pushTo(request, 'others'),
        () => (request.draft = chance.happens(0.2)),
        () => label(request, chance.pick(['foray:fix', 'foray:review']), at, chance.pick(['eve', OWN_ACCOUNT])),
        () => (request.merged = chance.happens(0.2) ? 'by others' : 'no'),
        () => (request.closed = chance.happens(0.1)),
      ])();
    },
    calm() {
      isCalm = true;
      for (const request of requests.values())
        Object.assign(request, { ci: 'success', mergeability: 'clean', decision: 'APPROVED', draft: false, comments: [] });
    },
  };

  function label(request: Request, name: string, at: string, actor: string): void {
    request.labels.add(name);
    request.events.push({ id: String((counter += 1)), label: name, added: true, actor, at });
  }

  function pushTo(request: Request, by: 'us' | 'others'): void {
    Object.assign(request, { head: fresh(), ci: 'pending', mergeability: 'unknown' });
    if (request.issueId !== null) ledger.pushed(request.issueId, by);
  }

  function isOwnProject(owner: string, repo: string): boolean {
    return `${owner}/${repo}`.toLowerCase() === `${place.owner}/${place.repo}`;
  }

  function truth({ number, head }: Request): Scm {
    return { branch: `b${number}`, sha: head, pushedAt: '', prNumber: number, owner: place.owner, repo: place.repo };
  }

  function lie(issueId: string): RunExit['scm'] {
    const own = truth(open(issueId));
    const stranger = create(null);
    Object.assign(stranger, { ci: 'success', mergeability: 'clean', decision: 'APPROVED' });
    const others = [...requests.values()].filter(({ fork }) => !fork).map(({ number }) => number);
    return chance.pick(liesOf(own, place, () => chance.pick(others), stranger.number));
  }
}

/** What an agent may write that wants something else merged than its own work, or more turns than it has. */
function liesOf(own: Scm, { owner, repo, foreign }: ForgePlace, other: () => number, stranger: number): readonly Scm[] {
  return [
    { ...own, ...foreign, branch: 'main' },
    { ...own, ...foreign },
    { ...own, prNumber: stranger, branch: `b${stranger}` },
    { ...own, prNumber: other(), branch: 'main' },
    { ...own, prNumber: other(), branch: 'main' },
    { ...own, prNumber: other(), branch: 'main' },
    { ...own, prNumber: 1_000_000 },
    { ...own, owner: owner.toUpperCase(), repo: repo.toUpperCase() },
    { ...own, owner: `${owner}%2F..`, repo },
    { ...own, sha: 'of another commit' },
  ];
}

type Scm = NonNullable<RunExit['scm']>;
