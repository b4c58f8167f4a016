import { afterEach, describe, expect, it } from 'vitest';
import type { FakeLinear, FakeLinearOptions } from '../../../test/fakes/linear.ts';
import { startFakeLinear } from '../../../test/fakes/linear.ts';
import { errorBody, invalidInput, remoteError } from '../../../test/fakes/linear/failures.ts';
import { asked, bodyOf, failureOf, never, openTracker } from '../../../test/fakes/linear/connect.ts';
import { json } from '../../../test/support/http-server.ts';

const running: FakeLinear[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeLinearOptions = {}) {
  const fake = await startFakeLinear(options);
  running.push(fake);
  const { id } = fake.addIssue({ labels: ['keep'] });
  const { labels } = openTracker(fake).tracker;
  return {
    fake,
    id,
    add: (name: string) => labels!.add(id, name, never),
    remove: (name: string) => labels!.remove(id, name, never),
  };
}

const lastInput = (fake: FakeLinear) => bodyOf(fake.requests.at(-1)).variables.input;

describe('linear label add', () => {
  it('a name is looked up whatever its case, and attached through the append-only field', async () => {
    const { fake, add } = await start();
    const wanted = fake.addLabel('Needs-Human', { team: 'ENG' });
    await add(' needs-human ');
    expect(asked(fake.requests)).toEqual(['LabelsByName', 'UpdateIssue']);
    expect(lastInput(fake)).toEqual({ addedLabelIds: [wanted] });
    expect(fake.issue('ENG-1').labels).toEqual(['keep', 'Needs-Human']);
  });

  it('a label of the team wins over one of the workspace, wherever it stands', async () => {
    const { fake, add } = await start({ maxPageSize: 1 });
    fake.addLabel('x', { team: 'OPS' });
    fake.addLabel('x');
    const ours = fake.addLabel('X', { team: 'ENG' });
    await add('x');
    expect(lastInput(fake)).toEqual({ addedLabelIds: [ours] });
  });

  it('the exact spelling wins among labels of one scope', async () => {
    const { fake, add } = await start();
    fake.addLabel('X');
    const exact = fake.addLabel('x');
    await add('x');
    expect(lastInput(fake)).toEqual({ addedLabelIds: [exact] });
  });

  it('one of the workspace is used where the team has none; those of other teams and groups never are', async () => {
    const { fake, add } = await start();
    fake.addLabel('x', { team: 'OPS' });
    const shared = fake.addLabel('X');
    await add('x');
    expect(lastInput(fake)).toEqual({ addedLabelIds: [shared] });
    fake.addLabel('g', { team: 'ENG', isGroup: true });
    expect((await failureOf(add('g'))).kind).toBe('tracker_payload_error');
  });

  it('a missing one is created for the team, in the given spelling', async () => {
    const { fake, add } = await start();
    await add('Needs Human');
    expect(asked(fake.requests)).toEqual(['LabelsByName', 'TeamStates', 'CreateLabel', 'UpdateIssue']);
    expect(fake.labels()).toContainEqual({ name: 'Needs Human', team: 'ENG' });
    expect(fake.issue('ENG-1').labels).toEqual(['keep', 'Needs Human']);
  });

  it('when somebody else created it meanwhile, theirs is attached', async () => {
    const { fake, add } = await start();
    fake.beforeNext('issueLabelCreate', () => void fake.addLabel('x', { team: 'ENG' }));
    await add('x');
    expect(asked(fake.requests)).toEqual(['LabelsByName', 'TeamStates', 'CreateLabel', 'LabelsByName', 'UpdateIssue']);
    expect(fake.issue('ENG-1').labels).toEqual(['keep', 'x']);
  });

  it('two at once create one', async () => {
    const { fake, add } = await start();
    await Promise.all([add('x'), add('X'), add('x')]);
    expect(fake.labels().filter(({ name }) => name.toLowerCase() === 'x')).toHaveLength(1);
    expect(fake.issue('ENG-1').labels).toHaveLength(2);
  });

  it('a creation that fails with nothing to be found gives the original error', async () => {
    const { fake, add } = await start();
    fake.failNext('issueLabelCreate', json(errorBody(invalidInput('The name is too long.'))));
    const error = await failureOf(add('x'));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', detail: 'The name is too long.' });
    expect(asked(fake.requests)).toEqual(['LabelsByName', 'TeamStates', 'CreateLabel', 'LabelsByName']);
  });

  it('a refusal for the team is tracker_auth_error, and not looked into further', async () => {
    const { fake, add } = await start({ labelsRefused: true });
    expect((await failureOf(add('x'))).kind).toBe('tracker_auth_error');
    expect(asked(fake.requests)).toEqual(['LabelsByName', 'TeamStates', 'CreateLabel']);
  });

  it.each([
    ['a creation without success', 'issueLabelCreate', { issueLabelCreate: { success: false, issueLabel: null } }],
    ['an update without success', 'issueUpdate', { issueUpdate: { success: false } }],
  ])('%s and without errors is tracker_api_error', async (_, part, data) => {
    const { fake, add } = await start();
    fake.failNext(part, json({ data }));
    expect((await failureOf(add('x'))).kind).toBe('tracker_api_error');
  });

  it('a creation that may heal is not taken for a race', async () => {
    const { fake, add } = await start();
    fake.failNext('issueLabelCreate', json(errorBody(remoteError('oops', 'internal error'))));
    expect((await failureOf(add('x'))).kind).toBe('tracker_transport_error');
    expect(fake.requests).toHaveLength(3);
  });

  it('a blank name is refused without a request', async () => {
    const { fake, add } = await start();
    expect((await failureOf(add(' '))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toEqual([]);
  });
});

describe('linear label removal', () => {
  it('takes off what the issue carries by that name, whatever its case, and nothing else', async () => {
    const { fake, id, remove, add } = await start();
    await add('Old');
    const from = fake.requests.length;
    await remove('old');
    expect(asked(fake.requests, from)).toEqual(['IssueLabelsByName', 'UpdateIssue']);
    expect(Object.keys(lastInput(fake) as object)).toEqual(['removedLabelIds']);
    expect(fake.issue(id).labels).toEqual(['keep']);
  });

  it('writes nothing when the issue does not carry it', async () => {
    const { fake, remove } = await start();
    fake.addLabel('old', { team: 'ENG' });
    await remove('old');
    expect(asked(fake.requests)).toEqual(['IssueLabelsByName']);
  });

  it('says tracker_not_found for a missing issue', async () => {
    const { fake } = await start();
    const { labels } = openTracker(fake).tracker;
    expect((await failureOf(labels!.remove('ENG-99', 'x', never))).kind).toBe('tracker_not_found');
    fake.failNext('labels(filter', json({ data: { issue: null } }));
    expect((await failureOf(labels!.remove('ENG-1', 'x', never))).kind).toBe('tracker_not_found');
  });
});
