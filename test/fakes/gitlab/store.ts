/** What a fake instance keeps of one project. Everything is plain data, changed in place by the routes. */
export interface World {
  readonly project: FakeProject;
  readonly issues: Map<number, FakeIssue>;
  readonly labels: FakeLabel[];
  /** Ticks with every write, so that times differ and are the same in every run. */
  clock: number;
  lastIid: number;
  lastNoteId: number;
}

export interface FakeProject {
  readonly id: number;
  readonly path: string;
  archived: boolean;
  visibility: 'private' | 'public';
}

export interface FakeIssue {
  readonly iid: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  labels: string[];
  assignees: string[];
  author: string;
  issueType: string;
  confidential: boolean;
  milestone: string | null;
  createdAt: string;
  updatedAt: string;
  notes: FakeNote[];
  /** What happened to its labels, oldest first. */
  labelEvents: { readonly id: number; readonly label: string; readonly action: 'add' | 'remove'; readonly createdAt: string }[];
}

export interface FakeNote {
  readonly id: number;
  readonly body: string;
  readonly author: string;
  readonly createdAt: string;
  readonly system: boolean;
  readonly internal: boolean;
}

export interface FakeLabel {
  readonly name: string;
  /** False: inherited from the group. */
  readonly isProjectLabel: boolean;
}

export type IssueFields = Partial<Omit<FakeIssue, 'iid' | 'notes' | 'labelEvents'>>;

export function createWorld(path: string): World {
  return {
    // Far from any issue number, so that the two are never the same by chance.
    project: { id: 4711, path, archived: false, visibility: 'private' },
    issues: new Map(),
    labels: [],
    clock: Date.parse('2026-03-01T08:00:00.000Z'),
    lastIid: 0,
    lastNoteId: 300,
  };
}

/** The time of the next write. */
export function tick(world: World): string {
  world.clock += 1000;
  return new Date(world.clock).toISOString();
}

export function createIssue(world: World, fields: IssueFields & { readonly iid?: number } = {}): FakeIssue {
  const iid = fields.iid ?? world.lastIid + 1;
  world.lastIid = Math.max(world.lastIid, iid);
  const at = tick(world);
  const issue: FakeIssue = {
    title: `Issue ${iid}`,
    description: null,
    state: 'opened',
    labels: [],
    assignees: [],
    author: 'ada',
    issueType: 'issue',
    confidential: false,
    milestone: null,
    createdAt: at,
    updatedAt: at,
    notes: [],
    labelEvents: [],
    ...fields,
    iid,
  };
  world.issues.set(iid, issue);
  for (const label of issue.labels) ensureLabel(world, label);
  return issue;
}

/** Names are case-sensitive: one in another case is another label. */
export function ensureLabel(world: World, name: string): void {
  if (!world.labels.some((label) => label.name === name)) world.labels.push({ name, isProjectLabel: true });
}

export interface IssueChange extends IssueFields {
  readonly addLabels?: readonly string[];
  readonly removeLabels?: readonly string[];
}

/** Missing labels are created on add and ignored on removal; of a label both added and removed nothing is left. */
export function changeIssue(world: World, issue: FakeIssue, change: IssueChange): void {
  const { addLabels = [], removeLabels = [], ...fields } = change;
  const [before, labels] = [issue.state, issue.labels];
  Object.assign(issue, fields, { updatedAt: tick(world) });
  for (const label of [...issue.labels, ...addLabels]) ensureLabel(world, label);
  issue.labels = [...new Set([...issue.labels, ...addLabels])].filter((label) => !removeLabels.includes(label)).sort();
  for (const label of issue.labels.filter((one) => !labels.includes(one))) noteLabel(world, issue, label, 'add');
  for (const label of labels.filter((one) => !issue.labels.includes(one))) noteLabel(world, issue, label, 'remove');
  if (issue.state !== before) {
    addNote(world, issue, { body: issue.state === 'closed' ? 'closed' : 'reopened', system: true });
  }
}

function noteLabel(world: World, issue: FakeIssue, label: string, action: 'add' | 'remove'): void {
  world.lastNoteId += 1;
  issue.labelEvents.push({ id: world.lastNoteId, label, action, createdAt: tick(world) });
}

export function addNote(world: World, issue: FakeIssue, fields: Partial<Omit<FakeNote, 'id'>> = {}): FakeNote {
  world.lastNoteId += 1;
  const note: FakeNote = {
    body: '',
    author: 'ada',
    createdAt: tick(world),
    system: false,
    internal: false,
    ...fields,
    id: world.lastNoteId,
  };
  issue.notes.push(note);
  return note;
}
