import type { Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Fault } from '../../src/domain/model/errors.ts';
import type { Answer } from '../../src/domain/model/answer.ts';
import type { Event, RunExit } from '../../src/domain/model/event.ts';
import type {
  LabelEvent,
  Mergeability,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
} from '../../src/domain/model/merge-request.ts';
import type { Findings } from '../../src/domain/reactions/findings.ts';
import type { Chance } from '../support/random.ts';

/** The forge of the simulation: merge requests that people push to, review, label, merge and close. */
export interface SimulatedForge {
  /** What a run leaves in its workspace: it opens or pushes to the issue's merge request. */
  push(plan: RunPlan): RunExit['scm'];
  inspect(effect: Extract<Effect, { do: 'inspect' }>, now: number): Omit<Findings, 'issueState'>;
  merge(effect: Extract<Effect, { do: 'merge' }>): Extract<Event, { type: 'merge-answered' }>['outcome'];
  deleteBranch(number: number): void;
  removeLabel(number: number, label: string): void;
  /** A reaction queued a turn: what a request may cost is bounded for each of its heads. */
  noteQueued(issueId: string): void;
  /** An operator gave the budgets of an issue back. */
  forgive(issueId: string): void;
  /** A turn started because of comments: they must not all have been given before. */
  noteTurn(plan: RunPlan): void;
  edit(now: number): void;
  calm(now: number): void;
}

interface Request {
  readonly number: number;
  /** Somebody else's, from a fork: nothing may be done about it. */
  readonly fork: boolean;
  /** Turns queued for this head, and how often a conflict may have begun anew at it. */
  turns: number;
  cleanLooks: number;
  head: string;
  ci: 'success' | 'failing' | 'pending';
  mergeability: Mergeability;
  decision: ReviewDecision;
  comments: ReviewComment[];
  labels: Set<string>;
  events: LabelEvent[];
  draft: boolean;
  merged: 'no' | 'by us' | 'by others';
  closed: boolean;
  given: Set<string>;
  lastContext: string;
  /** What the last look said of readiness, by head. */
  ready: Map<string, boolean>;
}

const OWN_ACCOUNT = 'foray-bot';
/** CI, reviews, review bots, conflicts, label commands. */
const KINDS_WITH_TURNS = 5;

export function createSimulatedForge(
  chance: Chance,
  fault: Fault,
  budget: number,
  violated: (what: string) => void,
): SimulatedForge {
  const inspected = new Map<string, number>();
  const requests = new Map<number, Request>();
  const byIssue = new Map<string, number>();
  let counter = 0;
  let isCalm = false;
  const fresh = (): string => `sha${(counter += 1)}`;
  const maybe = <T>(value: T): Answer<T> => (!isCalm && chance.happens(0.1) ? { ok: false, fault } : { ok: true, value });

  function open(issueId: string): Request {
    const number = byIssue.get(issueId);
    const known = number === undefined ? undefined : requests.get(number);
    if (known && known.merged === 'no' && !known.closed) return known;
    const request = create(false);
    byIssue.set(issueId, request.number);
    return request;
  }

  function create(fork: boolean): Request {
    const request: Request = {
      number: (counter += 1),
      fork,
      turns: 0,
      cleanLooks: 0,
      head: fresh(),
      ci: 'pending',
      mergeability: 'unknown',
      decision: 'REVIEW_REQUIRED',
      comments: [],
      labels: new Set(),
      events: [],
      draft: false,
      merged: 'no',
      closed: false,
      given: new Set(),
      lastContext: '',
      ready: new Map(),
    };
    requests.set(request.number, request);
    return request;
  }

  function statusOf(request: Request): MergeStatus {
    return {
      mergeability: request.mergeability,
      draft: request.draft,
      merged: request.merged !== 'no',
      closed: request.closed,
      headSha: request.head,
      headBranch: `b${request.number}`,
      baseBranch: 'main',
      fork: request.fork,
      projectId: '',
      mergeCommitSha: '',
      labels: [...request.labels],
      url: '',
    };
  }

  /** Between two looks CI finishes and the forge makes up its mind. */
  function settle(request: Request): void {
    if (request.ci === 'pending' && chance.happens(0.4)) request.ci = chance.pick(['failing', 'failing', 'success']);
    if (request.mergeability === 'unknown' && chance.happens(0.4))
      request.mergeability = chance.pick(['clean', 'clean', 'dirty']);
  }

  function isReady(request: Request): boolean {
    const approved = request.decision === 'APPROVED' || request.decision === 'NOT_REQUIRED';
    return request.mergeability === 'clean' && approved && request.ci === 'success' && !request.draft;
  }

  return {
    push(plan) {
      if (!isCalm && chance.happens(0.2)) return null;
      if (!isCalm && chance.happens(0.05)) return lie();
      const request = open(plan.issue.id);
      if (chance.happens(0.8)) pushTo(request);
      return { branch: `b${request.number}`, sha: request.head, pushedAt: '', prNumber: request.number, owner: 'o', repo: 'r' };
    },
    inspect(effect) {
      const { owner, number } = effect.watch.mergeRequest;
      if (owner !== 'o') violated(`a request of ${owner} was asked about`);
      inspected.set(effect.watch.issue.id, number);
      const request = requests.get(number);
      if (!request || (!isCalm && chance.happens(0.01))) return { merge: { ok: true, value: null } };
      if (!isCalm) settle(request);
      if (request.mergeability === 'clean') request.cleanLooks += 1;
      const merge = maybe(statusOf(request));
      const findings = {
        merge,
        decision: maybe(request.decision),
        gate: maybe(request.ci),
        ci: maybe({
          status: request.ci,
          checkRuns: [],
          failingCount: request.ci === 'failing' ? 1 : 0,
          logExcerpt: '',
          ref: request.head,
        }),
        reviews: maybe(request.comments),
        botReviews: maybe([]),
        labels: maybe(request.events),
        scope: maybe({ mayMerge: 'yes', detail: '' } as const),
        queue: maybe(false),
        self: { ok: true, value: OWN_ACCOUNT } as const,
      };
      const readable = findings.merge.ok && findings.decision.ok && findings.gate.ok;
      request.ready.set(request.head, readable && isReady(request));
      return findings;
    },
    merge({ request: { number, branch }, order }) {
      const request = requests.get(number);
      if (!request) return { kind: 'refused', fault, unsure: false };
      if (request.fork || branch !== `b${number}`) violated(`request ${number}, which is not managed, was merged`);
      if (request.merged === 'by us') violated(`request ${number} merged twice`);
      if (request.ready.get(order.expectedSha) !== true) violated(`request ${number} merged on a reading that was not ready`);
      if (request.merged === 'by others') return { kind: 'merged', byUs: false };
      if (request.head !== order.expectedSha || request.closed || (!isCalm && chance.happens(0.2)))
        return { kind: 'refused', fault, unsure: false };
      request.merged = 'by us';
      return { kind: 'merged', byUs: true };
    },
    deleteBranch(number) {
      if (requests.get(number)?.merged !== 'by us') violated(`branch of request ${number} deleted without a merge of ours`);
    },
    removeLabel(number, label) {
      requests.get(number)?.labels.delete(label);
    },
    noteQueued(issueId) {
      const request = requests.get(inspected.get(issueId) ?? -1);
      if (!request) return;
      request.turns += 1;
      const allowed = budget * (KINDS_WITH_TURNS + request.cleanLooks);
      if (request.turns > allowed) violated(`request ${request.number} had ${request.turns} turns for its head ${request.head}`);
    },
    forgive(issueId) {
      const request = requests.get(inspected.get(issueId) ?? -1);
      if (request) request.turns = 0;
    },
    noteTurn(plan) {
      const comments = plan.reaction?.reviewComments;
      if (comments?.some(({ reviewer }) => reviewer === OWN_ACCOUNT)) violated('our own words were given back to an agent');
      const request = requests.get(byIssue.get(plan.issue.id) ?? -1);
      if (!comments || !request) return;
      const context = JSON.stringify(comments);
      const isNew = comments.some((comment) => !request.given.has(comment.id));
      if (!isNew && context !== request.lastContext) violated(`comments of request ${request.number} given twice`);
      request.lastContext = context;
      for (const comment of comments) request.given.add(comment.id);
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
        () => pushTo(request),
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

  function pushTo(request: Request): void {
    Object.assign(request, { head: fresh(), ci: 'pending', mergeability: 'unknown', turns: 0, cleanLooks: 0 });
  }

  /** What an agent may write that wants something else merged than its own work. */
  function lie(): RunExit['scm'] {
    const claim = { sha: '', pushedAt: '', owner: 'o', repo: 'r' };
    const stranger = create(true);
    Object.assign(stranger, { ci: 'success', mergeability: 'clean', decision: 'APPROVED' });
    const others = [...requests.values()].filter(({ fork }) => !fork);
    return chance.pick([
      { ...claim, owner: 'secret', repo: 'vault', prNumber: 9, branch: 'main' },
      { ...claim, prNumber: stranger.number, branch: `b${stranger.number}` },
      { ...claim, prNumber: (others.length > 0 ? chance.pick(others) : stranger).number, branch: 'main' },
    ]);
  }
}

function commentAt(id: string, submittedAt: string, reviewer: string): ReviewComment {
  return { id, file: 'a.ts', startLine: 1, endLine: 1, reviewer, body: 'change this', outdated: false, submittedAt };
}
