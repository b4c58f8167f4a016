import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, isEnumType, isInputObjectType, isObjectType, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { SeedIssue, TrackerHarness } from '../../../test/contracts/tracker.ts';
import { trackerContract } from '../../../test/contracts/tracker.ts';
import type { FakeLinear, FakeLinearOptions } from '../../../test/fakes/linear.ts';
import { startFakeLinear } from '../../../test/fakes/linear.ts';
import { openTracker } from '../../../test/fakes/linear/connect.ts';
import { OWN_SCHEMA } from '../../../test/fakes/linear/schema.ts';
import { differencesToSdk, readSdkTypes } from '../../../test/fakes/linear/sdk-types.ts';
import { GRAPHQL_OPERATIONS } from './operations.ts';

const STATES = { active: ['todo', 'in progress'], terminal: ['Done', 'Canceled'], handoff: 'in review' };

async function harness(options: FakeLinearOptions): Promise<TrackerHarness> {
  const fake = await startFakeLinear(options);
  return {
    tracker: openTracker(fake).tracker,
    states: STATES,
    abilities: ['assignee', 'priority', 'branchName', 'parent', 'blockedBy'],
    missing: { id: 'ffffffff-0000-4000-8000-000000000000', identifier: 'ENG-999' },
    seed: async (issues) => {
      const added: { id: string; identifier: string }[] = [];
      for (const issue of issues) added.push(seedOne(fake, issue, added));
      return added;
    },
    remote: {
      edit: async (id, change) => fake.editIssue(id, change),
      find: async (id) => {
        const { state, labels, comments } = fake.issue(id);
        return { state, labels, commentBodies: comments.map(({ body }) => body) };
      },
      requests: () => fake.requests.length,
    },
    cleanUp: () => fake.close(),
  };
}

function seedOne(fake: FakeLinear, seed: SeedIssue, before: readonly { id: string }[]) {
  const { blockedBy = [], parent, comments = [], issueType: _, ...plain } = seed;
  const added = fake.addIssue({
    ...plain,
    parent: parent === undefined ? undefined : before[parent]?.id,
    blockedBy: blockedBy.map((place) => before[place]!.id),
  });
  for (const comment of comments) fake.comment(added.id, comment);
  return added;
}

// Small pages, so that every list of the suite is read across several.
trackerContract('graphql', () => harness({ maxPageSize: 2 }));

const folder = process.env.CONTRACTS_DIR;
const schema = folder ? buildSchema(readFileSync(join(folder, 'linear.graphql'), 'utf8'), { assumeValidSDL: true }) : null;

describe('linear documents', () => {
  it.each(Object.entries(GRAPHQL_OPERATIONS))('%s fits the fake’s schema', (_, { text }) => {
    expect(validate(OWN_SCHEMA, parse(text))).toEqual([]);
  });
});

describe('the fake’s schema against the one that the vendor’s client library ships', () => {
  const sdk = readSdkTypes();

  it('every type, field, argument and nullability is there too', () => {
    expect(differencesToSdk(OWN_SCHEMA, sdk)).toEqual([]);
  });

  it('the comparison can fail', () => {
    const other = buildSchema(`
      type Query { issue(id: Int!, x: Int): Issue nope: Nope }
      type Issue { title: String labels: [String!]! }
      type Nope { id: ID }
      enum PaginationOrderBy { never }
    `);
    expect(differencesToSdk(other, sdk)).toEqual([
      'Query.issue: ?Maybe<Issue> is Issue there',
      'Query.nope: ?Maybe<Nope> is nothing there',
      'QueryIssueArgs.id: Scalars["Int"] is Scalars["String"] there',
      'QueryIssueArgs.x: ?InputMaybe<Scalars["Int"]> is nothing there',
      'Issue.title: ?Maybe<Scalars["String"]> is Scalars["String"] there',
      'Issue.labels: Array<Scalars["String"]> is IssueLabelConnection there',
      'Nope is not there',
      'PaginationOrderBy.never is not there',
    ]);
  });
});

describe.skipIf(!schema)('linear against the vendor’s published schema (CONTRACTS_DIR)', () => {
  it.each(Object.entries(GRAPHQL_OPERATIONS))('%s is a valid document', (_, { text }) => {
    expect(validate(schema!, parse(text))).toEqual([]);
  });

  it('the fake’s schema is a part of it', () => {
    expect(differences(OWN_SCHEMA, schema!)).toEqual([]);
  });

  it('the comparison can fail', () => {
    const other = buildSchema(
      'type Query { viewer(x: Int): String } type User { id: ID nope: Int } enum PaginationOrderBy { never }',
    );
    expect(differences(other, schema!)).toEqual([
      'Query.viewer: String is User! there',
      'Query.viewer(x: Int) is not there',
      'User.id: ID is ID! there',
      'User.nope is not there',
      'PaginationOrderBy.never is not there',
    ]);
  });
});

// Every answer is then checked against the vendor's types by the execution itself.
if (schema)
  trackerContract('graphql on the vendor’s published schema (CONTRACTS_DIR)', () => harness({ maxPageSize: 2, schema }));

/** What one schema says and the other does not say in the same words. */
function differences(part: GraphQLSchema, whole: GraphQLSchema): readonly string[] {
  const own = Object.values(part.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  return own.flatMap((type) => {
    const other = whole.getType(type.name);
    if (!other) return [`${type.name} is not there`];
    if (isEnumType(type) && isEnumType(other)) {
      return type.getValues().flatMap(({ name }) => (other.getValue(name) ? [] : [`${type.name}.${name} is not there`]));
    }
    if (isInputObjectType(type) && isInputObjectType(other))
      return memberDifferences(type.name, type.getFields(), other.getFields());
    if (!isObjectType(type) || !isObjectType(other)) return [];
    const fields = Object.values(type.getFields());
    return fields.flatMap((field) => {
      const twin = other.getFields()[field.name];
      const place = `${type.name}.${field.name}`;
      if (!twin) return [`${place} is not there`];
      const args = field.args.flatMap((arg) => {
        const same = twin.args.find(({ name }) => name === arg.name);
        return String(same?.type) === String(arg.type) ? [] : [`${place}(${arg.name}: ${String(arg.type)}) is not there`];
      });
      const fits = String(twin.type) === String(field.type);
      return [...(fits ? [] : [`${place}: ${String(field.type)} is ${String(twin.type)} there`]), ...args];
    });
  });
}

function memberDifferences(type: string, own: Readonly<Record<string, { type: unknown }>>, other: typeof own): readonly string[] {
  return Object.entries(own).flatMap(([name, field]) =>
    String(other[name]?.type) === String(field.type)
      ? []
      : [`${type}.${name}: ${String(field.type)} is ${String(other[name]?.type)} there`],
  );
}
