import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../../support/daemon.ts';
import { buildStage, KINDS, remoteOf, stageWorkflow, type Stage, type StageNames } from './stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** Every field of an issue that a template can name. */
const FIELDS = [
  'id',
  'identifier',
  'title',
  'description',
  'priority',
  'state',
  'branch_name',
  'url',
  'labels',
  'assignee',
  'issue_type',
  'parent',
  'comments',
  'blocked_by',
  'created_at',
  'updated_at',
];
const TEMPLATE = `{ ${FIELDS.map((field) => `"${field}": {{ .issue.${field} | toJSON }}`).join(', ')} }`;

/** Text of the tracker is data: neither its braces nor its quotes mean anything. */
const DESCRIPTION = 'One "line" {{ .issue.id }}\n\nand another';

/** A stand-in for an agent of the Agent Client Protocol: keeps what it is told, says a word and is done. */
const AGENT = `
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  'session/new': () => ({ sessionId: 'stand-in-1' }),
  'session/prompt': ({ prompt }) => {
    writeFileSync(process.env.PROMPT_FILE, prompt.map(({ text }) => text).join(''));
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Done.' } };
    send({ method: 'session/update', params: { sessionId: 'stand-in-1', update } });
    return { stopReason: 'end_turn' };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) send({ id, result: answers[method]?.(params) ?? {} });
}
`;

interface Cast {
  readonly stage: Stage;
  readonly issue: StageNames;
  readonly parent: StageNames;
  readonly blocker: StageNames;
}

describe('the first prompt', () => {
  it.each(KINDS)('carries every field as %s gives it', async (kind) => {
    const stage = await buildStage(kind, ground);
    const cast = await castOf(stage);
    await ground.write('agent.mjs', AGENT);
    const agent = `kind: acp\ncommand: [${process.execPath}, ${ground.path('agent.mjs')}]\nmax_turns: 1`;
    await ground.write('WORKFLOW.md', stageWorkflow(stage, { agent }, TEMPLATE));
    const daemon = await ground.start(['--port', '0'], { env: { ...stage.env, PROMPT_FILE: ground.path('prompt') } });
    await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: cast.issue.identifier });
    await daemon.stop();
    await stage.close();
    const [line = ''] = (await ground.read('prompt')).split('\n');
    expect(JSON.parse(line)).toEqual(EXPECTED[kind]?.(cast));
  });
});

async function castOf(stage: Stage): Promise<Cast> {
  const { states } = stage;
  const parent = await stage.add({ title: 'Parent', state: states.handoff });
  const blocker = await stage.add({ title: 'Blocker', state: states.done });
  const issue = await stage.add({
    title: 'All of it',
    state: states.doing,
    description: DESCRIPTION,
    labels: ['Bug', 'Area/UI'],
    assignee: 'ann',
    priority: 2,
    issueType: 'Bug',
    branchName: 'feature/seven',
    comments: [
      { author: 'ann', body: 'First words', createdAt: '2026-05-01T00:00:00Z' },
      { author: 'bob', body: 'Second words', createdAt: '2026-05-02T00:00:00Z' },
    ],
    blockedBy: [blocker.id],
    parent: parent.id,
  });
  return { stage, issue, parent, blocker };
}

const comments = (first: string, second: string) => [
  { id: first, author: 'ann', body: 'First words', created_at: '2026-05-01T00:00:00Z' },
  { id: second, author: 'bob', body: 'Second words', created_at: '2026-05-02T00:00:00Z' },
];

const SAME = { title: 'All of it', description: DESCRIPTION, assignee: 'ann' };

/** The field-mapping tables, row by row. */
const EXPECTED: Readonly<Record<string, (cast: Cast) => Readonly<Record<string, unknown>>>> = {
  file: ({ issue, parent, blocker }) => ({
    ...SAME,
    ...issue,
    priority: 2,
    state: 'in progress',
    branch_name: 'feature/seven',
    url: 'https://issues.example/A-3',
    labels: ['bug', 'area/ui'],
    issue_type: 'Bug',
    parent,
    comments: comments('1', '2'),
    blocked_by: [{ ...blocker, state: 'done', display_id: '' }],
    created_at: '2026-03-01T08:00:00Z',
    updated_at: '2026-03-02T08:00:00Z',
  }),
  graphql: ({ issue, parent, blocker }) => ({
    ...SAME,
    ...issue,
    priority: 2,
    state: 'In Progress',
    branch_name: 'feature/seven',
    url: 'https://linear.app/acme/issue/ENG-3',
    labels: ['bug', 'area/ui'],
    issue_type: '',
    parent,
    comments: comments('00000000-0000-4000-8000-00000000001b', '00000000-0000-4000-8000-00000000001d'),
    blocked_by: [{ ...blocker, state: 'Done', display_id: '' }],
    created_at: '2026-03-01T09:03:00.000Z',
    updated_at: '2026-03-01T09:03:00.000Z',
  }),
  nsproject: ({ stage }) => ({
    ...SAME,
    id: '3',
    identifier: '3',
    priority: null,
    state: 'in-progress',
    branch_name: '',
    url: `${remoteOf(stage).origin}/acme/tools/rocket/-/issues/3`,
    labels: ['area/ui', 'bug', 'in-progress'],
    issue_type: 'issue',
    parent: null,
    comments: comments('301', '302'),
    blocked_by: [],
    created_at: '2026-03-01T08:00:03.000Z',
    updated_at: '2026-03-01T08:00:03.000Z',
  }),
  repoissues: () => ({
    ...SAME,
    id: '3',
    identifier: '3',
    priority: null,
    state: 'in-progress',
    branch_name: '',
    url: 'https://forge.example/acme/widgets/issues/3',
    labels: ['bug', 'area/ui', 'in-progress'],
    issue_type: 'Bug',
    parent: { id: '1', identifier: '1' },
    comments: comments('1005', '1006'),
    blocked_by: [{ id: '2', identifier: '2', state: 'done', display_id: '' }],
    created_at: '2026-01-01T00:03:00Z',
    updated_at: '2026-01-01T00:05:00Z',
  }),
  selfhosted: ({ stage }) => ({
    ...SAME,
    id: '3',
    identifier: '3',
    priority: null,
    state: 'doing',
    branch_name: 'feature/seven',
    url: `${remoteOf(stage).origin}/acme/app/issues/3`,
    labels: ['area/ui', 'bug', 'doing'],
    issue_type: '',
    parent: null,
    comments: comments('7010', '7011'),
    blocked_by: [{ id: '2', identifier: '2', state: 'done', display_id: 'acme/app#2' }],
    created_at: '2026-01-01T00:03:00Z',
    updated_at: '2026-05-02T00:00:00Z',
  }),
  wfboard: ({ stage, parent, blocker }) => ({
    ...SAME,
    id: '10003',
    identifier: 'ABC-3',
    priority: 2,
    state: 'In Progress',
    branch_name: '',
    // Of the endpoint, not of what the remote calls itself.
    url: `${remoteOf(stage).proxy.url}/browse/ABC-3`,
    labels: ['bug', 'area/ui'],
    issue_type: 'Bug',
    parent,
    comments: comments('10004', '10005'),
    blocked_by: [{ ...blocker, state: 'Done', display_id: '' }],
    created_at: '2026-01-01T00:03:00.000+0000',
    updated_at: '2026-05-02T00:00:00Z',
  }),
};
