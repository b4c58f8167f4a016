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
  /** A turn started because of comments: they must not all have been given before. */
  noteTurn(plan: RunPlan): void;
  edit(now: number): void;
  calm(now: number): void;
}

interface Request {
  readonly number: number;
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

export function createSimulatedForge(chance: Chance, fault: Fault, violated: (what: string) => void): SimulatedForge {
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
    const request: Request = {
      number: (counter += 1),
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
    byIssue.set(issueId, request.number);
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
      const request = open(plan.issue.id);
      if (chance.happens(0.8)) Object.assign(request, { head: fresh(), ci: 'pending', mergeability: 'unknown' });
      return { branch: `b${request.number}`, sha: request.head, pushedAt: '', prNumber: request.number, owner: 'o', repo: 'r' };
    },
    inspect(effect) {
      const request = requests.get(effect.watch.mergeRequest.number);
      if (!request || (!isCalm && chance.happens(0.01))) return { merge: { ok: true, value: null } };
      if (!isCalm) settle(request);
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
      };
      const readable = findings.merge.ok && findings.decision.ok && findings.gate.ok;
      request.ready.set(request.head, readable && isReady(request));
      return findings;
    },
    merge({ request: { number }, order }) {
      const request = requests.get(number);
      if (!request) return { kind: 'refused', fault };
      if (request.merged === 'by us') violated(`request ${number} merged twice`);
      if (request.ready.get(order.expectedSha) !== true) violated(`request ${number} merged on a reading that was not ready`);
      if (request.merged === 'by others') return { kind: 'merged', byUs: false };
      if (request.head !== order.expectedSha || request.closed || (!isCalm && chance.happens(0.2)))
        return { kind: 'refused', fault };
      request.merged = 'by us';
      return { kind: 'merged', byUs: true };
    },
    deleteBranch(number) {
      if (requests.get(number)?.merged !== 'by us') violated(`branch of request ${number} deleted without a merge of ours`);
    },
    removeLabel(number, label) {
      requests.get(number)?.labels.delete(label);
    },
    noteTurn(plan) {
      const comments = plan.reaction?.reviewComments;
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
        () => request.comments.push(commentAt(String((counter += 1)), at)),
        () => Object.assign(request, { head: fresh(), ci: 'pending', mergeability: 'unknown' }),
        () => (request.draft = chance.happens(0.2)),
        () => label(request, chance.pick(['foray:fix', 'foray:review']), at),
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

  function label(request: Request, name: string, at: string): void {
    request.labels.add(name);
    request.events.push({ id: String((counter += 1)), label: name, added: true, actor: 'eve', at });
  }
}

function commentAt(id: string, submittedAt: string): ReviewComment {
  return { id, file: 'a.ts', startLine: 1, endLine: 1, reviewer: 'eve', body: 'change this', outdated: false, submittedAt };
}
