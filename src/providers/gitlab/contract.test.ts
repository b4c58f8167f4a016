import { trackerContract } from '../../../test/contracts/tracker.ts';
import type { SeedIssue, TrackerHarness } from '../../../test/contracts/tracker.ts';
import type { FakeGitlab } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { openSubject } from '../../../test/fakes/gitlab/connect.ts';
import { derivedState, stateRule } from './map.ts';

const STATES = { active: ['backlog', 'in-progress'], terminal: ['done', 'wontfix'], handoff: 'human-review' };

trackerContract('nsproject', async (): Promise<TrackerHarness> => {
  // Small pages, so that every list of the suite is read across several.
  const fake = await startFakeGitlab({ maxPerPage: 2, labels: ['Backlog', 'Done'] });
  return {
    tracker: openSubject(fake).tracker,
    states: STATES,
    abilities: ['assignee'],
    missing: { id: '999', identifier: '999' },
    seed: async (issues) => issues.map((issue) => seedOne(fake, issue)),
    remote: {
      edit: async (id, { state }) => {
        const { labels } = fake.issue(Number(id));
        fake.editIssue(Number(id), { ...placed(state), labels: [], addLabels: [state, ...withoutStates(labels)] });
      },
      find: async (id) => {
        const { labels, state, notes, iid } = fake.issue(Number(id));
        const bodies = notes.filter(({ system }) => !system).map(({ body }) => body);
        return { state: derivedState({ iid, labels, state }, stateRule(STATES)).state, labels, commentBodies: bodies };
      },
      requests: () => fake.requests.length,
    },
    cleanUp: () => fake.close(),
  };
});

function seedOne(fake: FakeGitlab, seed: SeedIssue): { id: string; identifier: string } {
  const { iid } = fake.addIssue({
    title: seed.title,
    description: seed.description ?? null,
    labels: [seed.state, ...(seed.labels ?? [])],
    assignees: seed.assignee === undefined ? [] : [seed.assignee],
    ...placed(seed.state),
  });
  for (const comment of seed.comments ?? []) fake.addNote(iid, comment);
  return { id: String(iid), identifier: String(iid) };
}

function placed(state: string): { state: 'opened' | 'closed' } {
  return { state: STATES.terminal.includes(state) ? 'closed' : 'opened' };
}

function withoutStates(labels: readonly string[]): readonly string[] {
  const states = [...STATES.active, ...STATES.terminal, STATES.handoff];
  return labels.filter((label) => !states.includes(label.toLowerCase()));
}
