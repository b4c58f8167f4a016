import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import { json, text } from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { graphqlEndpoint } from './graphql.ts';

const signal = new AbortController().signal;
const connect = scmConnections();

describe('where GraphQL is', () => {
  it.each([
    ['https://api.github.com', 'https://api.github.com/graphql'],
    ['https://api.acme.ghe.com', 'https://api.acme.ghe.com/graphql'],
    ['https://forge.example/api/v3', 'https://forge.example/api/graphql'],
    ['https://forge.example/sub/api/v3', 'https://forge.example/sub/api/graphql'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/graphql'],
  ])('%s has it at %s', (endpoint, expected) => {
    expect(graphqlEndpoint(endpoint)).toBe(expected);
  });

  it.each([
    ['', '/graphql'],
    ['/api/v3', '/api/graphql'],
  ])('below %j it answers at %s', async (basePath, path) => {
    const { fake, scm } = await connect({ basePath });
    fake.pulls.add({ decision: 'APPROVED' });
    expect(await scm.readReviewDecision(REQUEST, 'anyone', signal)).toBe('APPROVED');
    expect(fake.requests.map((request) => `${request.method} ${request.path}`)).toContain(`POST ${path}`);
    expect(fake.requests[0]?.json()).toMatchObject({ variables: { owner: 'acme', name: 'widgets', number: 1 } });
  });
});

describe('GraphQL errors, which come with status 200', () => {
  it.each<[string, object, TrackerErrorKind]>([
    ['NOT_FOUND', { type: 'NOT_FOUND', message: 'x' }, 'tracker_not_found'],
    ['FORBIDDEN', { type: 'FORBIDDEN', message: 'x' }, 'tracker_auth_error'],
    ['INSUFFICIENT_SCOPES', { type: 'INSUFFICIENT_SCOPES', message: 'x' }, 'tracker_auth_error'],
    ['RATE_LIMITED', { type: 'RATE_LIMITED', message: 'x' }, 'tracker_api_error'],
    ['RATE_LIMIT', { type: 'RATE_LIMIT', message: 'x' }, 'tracker_api_error'],
    ['one of no type', { message: 'Something went wrong' }, 'tracker_api_error'],
    ['one of a type nobody knows', { type: 'SHINY' }, 'tracker_api_error'],
  ])('%s is %s', async (_, error, kind) => {
    const { fake, scm } = await connect();
    fake.failNext('POST /graphql', json({ data: { repository: null }, errors: [error] }));
    const failure = await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain('GraphQL');
  });

  it.each([
    [{ type: 'RATE_LIMITED', message: 'x' }, true],
    [{ type: 'RATE_LIMIT', message: 'API rate limit exceeded' }, true],
    [{ message: 'You have exceeded a secondary rate limit.' }, true],
    [{ type: 'SHINY', message: 'x' }, false],
  ])('%j is a limit of requests: %s', async (error, isLimit) => {
    const { fake, scm } = await connect();
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 600) };
    fake.failNext('POST /graphql', json({ data: null, errors: [error] }, 200, headers));
    const failure = await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal));
    expect([failure.isLimit, failure.retryAfterMs !== undefined]).toEqual([isLimit, isLimit]);
  });

  it('name what is not there', async () => {
    const { fake, scm } = await connect();
    const error = await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal));
    expect([error.kind, error.detail]).toEqual([
      'tracker_not_found',
      'GraphQL NOT_FOUND: Could not resolve to a PullRequest with the number of 1.',
    ]);
    fake.failNext('POST /graphql', json({ data: { repository: { pullRequest: null } } }));
    expect((await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal))).kind).toBe('tracker_not_found');
  });

  it.each([
    ['no JSON', text('<html>')],
    ['no data', json({})],
    ['data that is none', json({ data: null })],
    ['a list', json([])],
  ])('%s is tracker_payload_error', async (_, reply) => {
    const { fake, scm } = await connect();
    fake.failNext('POST /graphql', reply);
    expect((await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal))).kind).toBe('tracker_payload_error');
  });

  it('of the limit come with a status too', async () => {
    const { fake, scm } = await connect({ limits: { graphql: 0 } });
    fake.pulls.add();
    const error = await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal));
    expect([error.kind, error.status]).toEqual(['tracker_api_error', 403]);
  });

  it('never show the token', async () => {
    const { fake, scm } = await connect();
    fake.failNext('POST /graphql', json({ data: null, errors: [{ message: `bad ${fake.token}` }] }));
    expect((await failureOf(scm.readReviewDecision(REQUEST, 'anyone', signal))).message).not.toContain('0123456789');
  });
});
