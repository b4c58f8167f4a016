import { addCosts, costOfRun, NO_COST } from '../../../src/domain/model/cost.ts';
import type { OperatorAnswer, OperatorPause, OperatorRequest } from '../../../src/domain/model/operator.ts';
import type { Run, RunEvent } from '../../../src/domain/model/run.ts';
import type {
  Durable,
  ForeignRecords,
  LifetimeTotals,
  Note,
  RunSelection,
  StatisticsBy,
  StatisticsRow,
  Store,
  Write,
} from '../../../src/ports/store.ts';
import { bytesOf, cutText, oldestToDrop, withLeftOut } from '../../../src/store/records/run-events.ts';

type Lists = Omit<Durable, 'operatorPause'>;
type Kept = { readonly [K in keyof Lists]: Map<string, Lists[K][number]> } & {
  readonly shared: Shared;
  readonly runs: Map<string, Run>;
  readonly events: Map<string, KeptEvents>;
};

/** What holds for every tracker. */
interface Shared {
  readonly pauses: Map<string, Durable['pauses'][number]>;
  readonly told: Map<string, Durable['told'][number]>;
  operatorPause: OperatorPause | null;
  readonly requests: { id: string; request: OperatorRequest; by: string; tracker: string; answer: OperatorAnswer | null }[];
}

interface KeptEvents {
  readonly events: readonly RunEvent[];
  readonly leftOut: { readonly events: number; readonly bytes: number };
}

const NO_EVENTS: KeptEvents = { events: [], leftOut: { events: 0, bytes: 0 } };

/** A store for simulations and tests: forgets everything with the process, otherwise keeps the contract. */
export function createMemoryStore(): Store {
  const trackers = new Map<string, Kept>();
  const labels = new Map<string, string>();
  const names = new Map<string, string>();
  let requestCount = 0;
  const shared: Shared = { pauses: new Map(), told: new Map(), operatorPause: null, requests: [] };
  const forgotten: Run[] = [];
  const notes: Note[] = [];
  const handedOut = new Set<string>();
  const identityOf = async (name: string): Promise<string> => names.get(name) ?? name;
  const keptOf = (tracker: string): Kept => {
    const kept = trackers.get(tracker) ?? nothingKept(shared);
    trackers.set(tracker, kept);
    return kept;
  };
  const allRuns = (): Run[] => [...trackers.values()].flatMap((kept) => [...kept.runs.values()]);
  const selected = ({ tracker, identifier: given, anyCase, mostly }: RunSelection): Run[] => {
    const identifier = given !== undefined && anyCase ? spelling(allRuns(), given) : given;
    const whose = tracker ?? mostly;
    const runs = whose === undefined ? allRuns() : [...keptOf(whose).runs.values()];
    return runs.filter((run) => (identifier ?? run.issue.identifier) === run.issue.identifier);
  };
  return {
    identityOf,
    async nameTracker(name, identity) {
      if (!names.has(name)) names.set(name, identity);
      return names.get(name) ?? identity;
    },
    async enter({ identity, label, configured }) {
      names.set(configured, identity);
      labels.set(identity, label);
      const others = [...trackers].filter(([tracker]) => tracker !== identity);
      return others.map(([tracker, kept]) => countsOf(tracker, labels.get(tracker) ?? tracker, kept)).filter(isNotEmpty);
    },
    load: async (tracker) => durableOf(keptOf(tracker)),
    async apply(tracker, writes) {
      const unknown = writes.find((write) => !(write.write in WRITERS));
      if (unknown) throw new TypeError(`unknown write ${JSON.stringify(unknown)}`);
      for (const write of writes) (WRITERS[write.write] as (kept: Kept, write: Write) => void)(keptOf(tracker), write);
    },
    spentOn: async (tracker, issueIds) => issueIds.flatMap((id) => keptOf(tracker).spent.get(id) ?? []),
    async listRuns({ before = Infinity, after, limit, ...selection }) {
      const isAfter = ({ startedAt, id }: Run) =>
        after === undefined || startedAt < after.startedAt || (startedAt === after.startedAt && id < after.id);
      const wanted = (run: Run) => run.startedAt < before && isAfter(run);
      return selected(selection).filter(wanted).toSorted(newestFirst).slice(0, limit);
    },
    async findRun(id) {
      const kept = [...trackers.values()].find(({ runs }) => runs.has(id));
      const run = kept?.runs.get(id);
      const { events, leftOut } = kept?.events.get(id) ?? NO_EVENTS;
      return run ? { run, events: withLeftOut(id, events, leftOut) } : null;
    },
    totals: async () => totalsOf([...forgotten, ...allRuns()]),
    async forgetRuns(endedBefore, limit) {
      notes.splice(0, Infinity, ...notes.filter(({ at }) => at >= endedBefore));
      const isOld = ({ endedAt }: Run): boolean => endedAt !== null && endedAt < endedBefore;
      const old = allRuns()
        .filter(isOld)
        .toSorted((a, b) => Number(a.endedAt) - Number(b.endedAt))
        .slice(0, limit);
      for (const run of old) for (const kept of trackers.values()) kept.runs.delete(run.id);
      forgotten.push(...old);
      return old.length === limit;
    },
    async addNotes(added) {
      for (const note of added) {
        if (note.isOnly) notes.splice(0, notes.length, ...notes.filter(({ subject }) => subject !== note.subject));
        notes.push(note);
      }
    },
    listNotes: async ({ subject, since = 0, limit }) =>
      notes
        .filter((note) => note.subject === subject && note.at >= since)
        .toSorted((a, b) => a.at - b.at)
        .slice(-limit || Infinity),
    statistics: async ({ since, by, agent, ...selection }) =>
      statisticsOf(
        selected(selection).filter(({ agentKind }) => (agent ?? agentKind) === agentKind),
        since,
        by,
      ),
    addRequest: async (request, by, asked) => {
      const id = String((requestCount += 1));
      const tracker = 'identifier' in request && asked !== null ? await identityOf(asked) : '';
      shared.requests.push({ id, request, by, tracker, answer: null });
      return id;
    },
    async takeRequests(wanted) {
      const open = shared.requests.filter(({ answer }) => answer === null);
      const owned = open.map((asked) => ({ ...asked, tracker: names.get(asked.tracker) ?? asked.tracker }));
      const waiting = owned.filter(({ tracker }) => [...wanted, ''].includes(tracker));
      const fresh = waiting.filter(({ id }) => !handedOut.has(id));
      for (const { id } of fresh) handedOut.add(id);
      return fresh.map(({ id, request, by, tracker }) => {
        const own = tracker === '' ? allRuns() : [...(trackers.get(tracker)?.runs.values() ?? [])];
        return { id, request, by, tracker, hasRuns: hasRuns(own, request) };
      });
    },
    findAnswer: async (id) => shared.requests.find((asked) => asked.id === id)?.answer ?? null,
    async withdrawRequest(id) {
      const index = shared.requests.findIndex((asked) => asked.id === id);
      const answer = shared.requests[index]?.answer ?? null;
      if (answer === null && index >= 0) shared.requests.splice(index, 1);
      return answer;
    },
    ping: async () => {},
    async close() {
      handedOut.clear();
    },
  };
}

function countsOf(identity: string, label: string, kept: Kept): ForeignRecords {
  const waiting = [...kept.claims.values()].filter((claim) => claim.phase === 'waiting').length;
  return {
    identity,
    label,
    claims: kept.claims.size - waiting,
    retries: waiting,
    parked: kept.parked.size,
    outbox: kept.outbox.size,
    watches: kept.watches.size,
    workspaces: kept.workspaces.size,
  };
}

function isNotEmpty(records: ForeignRecords): boolean {
  return Object.values(records).some((value) => typeof value === 'number' && value > 0);
}

function nothingKept(shared: Shared): Kept {
  return {
    claims: new Map(),
    parked: new Map(),
    outbox: new Map(),
    workspaces: new Map(),
    spent: new Map(),
    pauses: shared.pauses,
    told: shared.told,
    watches: new Map(),
    approvals: new Map(),
    shared,
    runs: new Map(),
    events: new Map(),
  };
}

const WRITERS: { readonly [K in Write['write']]: (kept: Kept, write: Extract<Write, { write: K }>) => void } = {
  claim: (kept, { claim }) => kept.claims.set(claim.issue.id, claim),
  release: (kept, { issueId }) => kept.claims.delete(issueId),
  park: (kept, { parked }) => kept.parked.set(parked.issue.id, parked),
  unpark: (kept, { issueId }) => kept.parked.delete(issueId),
  run: (kept, { run }) => kept.runs.set(run.id, run),
  'interrupt-runs': (kept, { at }) => interruptRuns(kept.runs, at),
  'run-events': (kept, { events, maxBytes }) => addEvents(kept, events, maxBytes),
  outbox: (kept, { entry }) => kept.outbox.set(entry.id, entry),
  'outbox-done': (kept, { id }) => kept.outbox.delete(id),
  workspace: (kept, { workspace }) => kept.workspaces.set(workspace.path, workspace),
  'workspace-gone': (kept, { path }) => kept.workspaces.delete(path),
  spent: (kept, { spent }) => kept.spent.set(spent.issueId, spent),
  pause: (kept, { pause }) => kept.pauses.set(pause.agentKind, pause),
  resume: (kept, { agentKind }) => kept.pauses.delete(agentKind),
  watch: (kept, { watch }) => kept.watches.set(watch.issue.id, watch),
  unwatch: (kept, { issueId }) => kept.watches.delete(issueId),
  approve: (kept, { approval }) => kept.approvals.set(approval.issueId, approval),
  unapprove: (kept, { issueId }) => kept.approvals.delete(issueId),
  'operator-pause': (kept, { pause }) => void (kept.shared.operatorPause = pause),
  told: (kept, { told }) => kept.told.set(told.subject, told),
  'told-over': (kept, { subject }) => kept.told.delete(subject),
  answer(kept, { requestId, answer }) {
    for (const asked of kept.shared.requests) if (asked.id === requestId) asked.answer = answer;
  },
};

function hasRuns(runs: readonly Run[], request: OperatorRequest): boolean {
  return 'identifier' in request && runs.some((run) => sameName(run, request.identifier));
}

/** The given one where a run has it, else that of the newest run whose name differs only in case. */
function spelling(runs: readonly Run[], given: string): string {
  const found = runs.filter((run) => sameName(run, given)).toSorted(newestFirst);
  return (found.find(({ issue }) => issue.identifier === given) ?? found[0])?.issue.identifier ?? given;
}

function sameName({ issue }: Run, identifier: string): boolean {
  return issue.identifier.toLowerCase() === identifier.toLowerCase();
}

function interruptRuns(runs: Map<string, Run>, at: number): void {
  for (const run of runs.values()) if (run.status === 'running') runs.set(run.id, { ...run, status: 'interrupted', endedAt: at });
}

function addEvents(kept: Kept, added: readonly RunEvent[], maxBytes: number): void {
  for (const runId of new Set(added.map((event) => event.runId))) {
    const before = kept.events.get(runId) ?? NO_EVENTS;
    const own = added.filter((event) => event.runId === runId).map((event) => ({ ...event, text: cutText(event.text) }));
    const events = [...before.events, ...own];
    const sizes = events.map(bytesOf);
    const isOver = sizes.reduce((sum, size) => sum + size, 0) > maxBytes;
    const { count, bytes } = isOver ? oldestToDrop(sizes, maxBytes) : { count: 0, bytes: 0 };
    const leftOut = { events: before.leftOut.events + count, bytes: before.leftOut.bytes + bytes };
    kept.events.set(runId, { events: events.slice(count), leftOut });
  }
}

function durableOf(kept: Kept): Durable {
  return {
    claims: [...kept.claims.values()],
    parked: [...kept.parked.values()],
    outbox: [...kept.outbox.values()],
    workspaces: [...kept.workspaces.values()],
    spent: [...kept.spent.values()],
    pauses: [...kept.pauses.values()],
    watches: [...kept.watches.values()],
    approvals: [...kept.approvals.values()],
    operatorPause: kept.shared.operatorPause,
    told: [...kept.told.values()],
  };
}

function newestFirst(a: Run, b: Run): number {
  return b.startedAt - a.startedAt || (b.id > a.id ? 1 : -1);
}

function totalsOf(runs: readonly Run[]): LifetimeTotals {
  const finished = runs.filter((run) => run.endedAt !== null);
  const sum = (part: (run: Run) => number) => finished.reduce((total, run) => total + part(run), 0);
  return {
    runs: finished.length,
    inputTokens: sum((run) => run.tokens.inputTokens),
    outputTokens: sum((run) => run.tokens.outputTokens),
    totalTokens: sum((run) => run.tokens.totalTokens),
    cacheReadTokens: sum((run) => run.tokens.cacheReadTokens),
    seconds: sum((run) => ((run.endedAt ?? run.startedAt) - run.startedAt) / 1000),
    ...finished.map(costOfRun).reduce(addCosts, NO_COST),
  };
}

/** By the same rules as the real one, in another way: each run by itself. */
export function statisticsOf(runs: readonly Run[], since: number, by: StatisticsBy): readonly StatisticsRow[] {
  const keyOf: Readonly<Record<StatisticsBy, (run: Run) => string>> = {
    day: (run) => new Date(run.startedAt).toISOString().slice(0, 10),
    agent: (run) => run.agentKind,
    state: (run) => run.issue.state,
    issue: (run) => run.issue.identifier,
  };
  const groups = new Map<string, Run[]>();
  for (const run of runs.filter(({ startedAt }) => startedAt >= since)) {
    const key = keyOf[by](run);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const sum = (some: readonly Run[], value: (run: Run) => number) => some.reduce((total, run) => total + value(run), 0);
  const seconds = (run: Run) => (run.endedAt === null ? 0 : (run.endedAt - run.startedAt) / 1000);
  return [...groups]
    .map(([key, some]) => ({
      key,
      runs: some.length,
      outcomes: Object.fromEntries(some.map(({ status }) => [status, some.filter((run) => run.status === status).length])),
      seconds: sum(some, seconds),
      longestSeconds: Math.max(...some.map(seconds)),
      tokens: {
        inputTokens: sum(some, (run) => run.tokens.inputTokens),
        outputTokens: sum(some, (run) => run.tokens.outputTokens),
        totalTokens: sum(some, (run) => run.tokens.totalTokens),
        cacheReadTokens: sum(some, (run) => run.tokens.cacheReadTokens),
      },
      ...some.map(costOfRun).reduce(addCosts),
    }))
    .sort((a, b) =>
      by === 'day' ? b.key.localeCompare(a.key) : b.runs - a.runs || a.key.localeCompare(b.key, 'en', { numeric: true }),
    );
}
