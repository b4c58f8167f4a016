import type { Sentence } from './sentence.ts';

const ACCESS = 'test/e2e/access.test.ts';
const HTTP = 'test/e2e/http.test.ts';
const HOOKS = 'test/e2e/webhooks.test.ts';
const HOOKS_UNIT = 'src/server/webhooks.test.ts';
const ACCESS_UNIT = 'src/server/access/access.test.ts';
const BOARD = 'src/server/dashboard/board.test.ts';
const VALUES = 'src/server/dashboard/values.test.ts';
const ISSUE = 'src/server/dashboard/issue-page.test.ts';
const STATISTICS = 'src/server/dashboard/statistics-page.test.ts';
const TRANSCRIPT = 'src/server/dashboard/transcript.test.ts';
const PAGES = 'test/browser/pages.test.ts';
const LOOKS = 'test/browser/looks.test.ts';
const LIVE = 'test/browser/dashboard.test.ts';

/** What the service promises over HTTP and on its pages, sentence by sentence, and the test that shows it. */
export const SENTENCES: readonly Sentence[] = [
  // Who is answered
  { says: 'only loopback names as Host, else 403', file: ACCESS, test: '%s is 403' },
  { says: 'allowed_hosts adds names', file: ACCESS, test: '%s is answered' },
  { says: 'a cross-site Origin on POST is 403', file: ACCESS, test: 'a post of another origin is 403, whatever it asks for' },
  {
    says: 'strict CSP, nosniff, no-store, no inline script',
    file: ACCESS,
    test: 'every answer carries a strict policy and may not be kept',
  },
  { says: 'any address but 127.0.0.1 needs a token', file: ACCESS, test: 'is needed for any address but 127.0.0.1' },
  {
    says: 'with a token every route but /livez, /readyz, /hooks/* asks for it, on 127.0.0.1 too',
    file: ACCESS,
    test: 'is asked for on every route but probes and webhooks, on 127.0.0.1 too',
  },
  { says: 'as Authorization: Bearer', file: ACCESS, test: 'comes as a bearer, whole and in no other form' },
  {
    says: 'or by the cookie of a login page',
    file: ACCESS,
    test: 'gives a cookie that no script reads and no other site sends, and takes it back',
  },
  {
    says: 'the login page stands in for a page',
    file: ACCESS,
    test: 'is shown to a browser in place of any page, and leads back to it',
  },
  { says: 'compared in constant time, whole', file: ACCESS_UNIT, test: 'is compared whole' },
  {
    says: 'tries one after the other are slowed down',
    file: ACCESS,
    test: 'refuses another token, leads to no other site, and slows down who goes on trying',
  },
  { says: 'a login ends after thirty days', file: ACCESS_UNIT, test: 'holds for thirty days, whatever the browser says' },
  { says: 'log out has a button', file: PAGES, test: 'logs in with the token, acts under the name that was given, and logs out' },
  {
    says: 'behind TLS the cookie is for TLS alone',
    file: ACCESS_UNIT,
    test: 'gives a cookie for TLS alone where the page came by it',
  },

  // What can be asked for
  {
    says: 'stop, retry, unpark: 202 and what was asked, 404, 409',
    file: ACCESS,
    test: 'is 202 and what was asked, 404 for an unknown issue, 409 where it makes no sense',
  },
  { says: 'each place of an issue and each request', file: 'src/domain/events/on-operator.test.ts', test: '%s, %s: %s' },
  {
    says: 'pause takes {reason}; repeating it is 202; resume',
    file: ACCESS,
    test: 'pause takes a reason and may be repeated; resume lifts it',
  },
  { says: '409 while draining', file: ACCESS, test: 'while draining nothing more can be asked for' },
  {
    says: 'refresh is 409 and probes are 503 while draining',
    file: HTTP,
    test: 'answers 503, 503 and 409 until the stubborn agent is gone',
  },
  {
    says: 'same origin only',
    file: 'src/server/api/operator.test.ts',
    test: 'is for pages of the same origin and clients without one',
  },

  // What can be read
  { says: 'one issue, whatever its place', file: ACCESS, test: 'of an issue stands in one place, wherever the issue is' },
  {
    says: 'one issue by its runs alone',
    file: 'src/server/api/openapi/openapi.test.ts',
    test: 'GET /api/v2/issues/{identifier} knows an issue by its runs alone',
  },
  {
    says: 'runs page by a cursor that loses none; before filters',
    file: ACCESS,
    test: 'of runs comes in pages that lose none, also from a moment on',
  },
  {
    says: 'also among runs of one moment',
    file: 'src/server/api/runs.test.ts',
    test: 'pages by limit and cursor until nothing is left, also among runs of one moment',
  },
  { says: 'runs filtered by identifier', file: 'src/server/api/runs.test.ts', test: 'filters by identifier' },
  { says: 'one run with its events', file: 'src/server/api/runs.test.ts', test: 'is the run with its events' },
  { says: 'parked', file: 'src/server/api/runs.test.ts', test: 'GET /api/v2/parked says why and since when' },
  {
    says: 'merge-requests',
    file: 'src/server/api/runs.test.ts',
    test: 'GET /api/v2/merge-requests tells how far each reaction has come',
  },
  {
    says: 'events, a stream',
    file: 'src/server/events-stream.test.ts',
    test: 'tells a notice by its name, with its facts in the names of the API',
  },
  {
    says: 'display_identifier beside issue_identifier',
    file: 'src/server/api/v1.test.ts',
    test: 'retry entry: every field, in order, display_identifier where there is one',
  },
  {
    says: 'no surface of version 2 shadows an identifier of version 1',
    file: 'src/server/routes.test.ts',
    test: 'are all in the table above',
  },
  {
    says: 'openapi.json: every route is described',
    file: 'src/server/api/openapi/openapi.test.ts',
    test: 'describes every route that is no page, and no other',
  },
  {
    says: 'openapi.json: every answer is as described',
    file: 'src/server/api/openapi/openapi.test.ts',
    test: '%s %s answers as described (%s, %i)',
  },
  { says: 'openapi.json: what is described is served', file: ACCESS, test: 'what is described is served, and nothing else' },

  // Webhooks
  {
    says: 'five vendors, each by its signature header; without, or wrong: 401',
    file: HOOKS,
    test: 'without its signature, or with another, is 401',
  },
  { says: 'no token is asked for, and none helps', file: HOOKS_UNIT, test: 'takes what is signed, once' },
  {
    says: 'over 1 MiB is 413',
    file: HOOKS,
    test: 'of more than 1 MiB is 413, and of exactly that is taken or refused by its signature',
  },
  { says: 'a kind that is not watched is 404', file: HOOKS, test: 'is 404 under a kind that is not watched' },
  { says: 'without a secret 404', file: HOOKS_UNIT, test: 'is 404 for a kind that is not watched, and without a secret' },
  {
    says: 'kind or alias; a hint brings the poll forward; a replay does nothing; at most one a second; the body is not believed',
    file: HOOKS,
    test: 'brings the next poll forward once for each delivery, by either name; a replay is 202 and does nothing',
  },
  { says: 'remembered 24 h, over a restart too', file: HOOKS_UNIT, test: 'do nothing after a restart either, for a day' },
  {
    says: 'coalesced, the last one not lost',
    file: HOOKS_UNIT,
    test: 'bring at most one hint a second, and the last one is not lost',
  },
  {
    says: 'brings looks at merge requests forward',
    file: 'src/domain/events/on-webhook.test.ts',
    test: 'and the looks at merge requests, but not one that is close or that a failed read put off',
  },

  // What the agent does now
  {
    says: 'usage and cost as they grow',
    file: 'src/domain/events/on-run.test.ts',
    test: 'keeps the figures as they grow: now and then, and at the end of a turn',
  },
  {
    says: 'bounded by size per run',
    file: 'src/domain/events/on-run.test.ts',
    test: 'loses none of a burst: what has gathered is stored at once, within the bytes of the run',
  },
  {
    says: 'masked, cut, one line: what was called and what came back',
    file: 'src/agents/shared/event-stream.test.ts',
    test: 'tell what was called and what came back',
  },
  { says: 'told by Claude Code', file: 'src/agents/claude-code/replay.test.ts', test: 'that went well' },
  {
    says: 'told by Codex',
    file: 'src/agents/codex/turn.test.ts',
    test: 'tells what the item %s was called with and gave back',
  },
  {
    says: 'told by agents that speak ACP',
    file: 'src/agents/acp/turn.test.ts',
    test: 'tells what was called and what came back, as far as it is known by then',
  },
  {
    says: 'tool events carry what was called, its result and how long it took',
    file: 'src/domain/events/on-run.test.ts',
    test: 'keeps what a tool was called with, what it gave back and how long it took',
  },
  { says: 'the prompt of each turn', file: 'src/domain/events/on-run.test.ts', test: 'keeps the prompt of each turn' },
  {
    says: 'one row per call',
    file: TRANSCRIPT,
    test: 'has one row for a tool call, from its start to its end, also when calls overlap',
  },
  { says: 'rows that open, live', file: LIVE, test: 'links to the page of a run, which follows the run' },
  {
    says: 'follow mode, rows loaded as one scrolls, 5,000 events',
    file: PAGES,
    test: 'of 5,000 events loads earlier rows as one scrolls, and follows the end',
  },
  { says: 'jump to failures, search, download', file: PAGES, test: 'is searched, and its failures are found' },
  {
    says: 'says what was left out',
    file: TRANSCRIPT,
    test: 'numbers its rows from the first event, also when that was left out',
  },

  // An issue
  {
    says: 'place, reason, what would change it, actions, links',
    file: ISSUE,
    test: '%s is %s: why, what would change it, and what can be asked for',
  },
  {
    says: 'timeline of runs, handoffs, reactions, and who asked',
    file: ISSUE,
    test: 'tells runs, handoffs, reactions and what people asked for, the newest first',
  },
  {
    says: 'merge request with CI and review',
    file: ISSUE,
    test: 'shows the merge request with its checks and its review, and links to it',
  },
  { says: 'tokens and cost', file: ISSUE, test: 'adds up tokens and cost, and leads to the runs that it does not show' },

  // The board
  {
    says: 'what needs a person, with buttons',
    file: BOARD,
    test: 'shows parked issues with the reason, since when and how to release them',
  },
  {
    says: 'project, path and host in the head; amber while polls fail; a rejected edit is a banner',
    file: PAGES,
    test: 'turns amber while polls fail, and shows a rejected edit as a banner',
  },
  { says: 'a dead service turns the page grey', file: LIVE, test: 'says when the service is gone, and goes on when it is back' },
  { says: 'money is a tile', file: BOARD, test: 'shows the summary cards, uptime, version and totals' },
  { says: 'search, filter and sort live in the address', file: PAGES, test: 'searches as one types, and the address keeps it' },
  { says: 'natural order', file: 'src/server/dashboard/run-page.test.ts', test: '"%s" gives %j' },
  { says: 'lists page', file: VALUES, test: 'shows a part of each list, says how much more there is, and is quick' },
  { says: 'counts agree', file: VALUES, test: 'show the same figures of a session that runs, though the database is behind' },
  {
    says: 'counts agree while runs end',
    file: VALUES,
    test: 'agree when a run has just ended, though sums are kept for a while',
  },
  {
    says: 'phone: one line a row, actions in reach',
    file: LIVE,
    test: 'a row is one line, with its actions in reach and the rest on the page of the issue',
  },

  // Charts
  { says: 'drawn as SVG with text alternatives', file: STATISTICS, test: 'each have a name and the same in words' },
  { says: 'statistics by day, agent, state, issue', file: STATISTICS, test: 'by %s has the numbers of the API' },
  { says: 'the numbers of foray stats', file: 'test/e2e/commands.test.ts', test: 'stats are the numbers of the runs' },
  {
    says: 'requests left of the quota, as each vendor tells it',
    file: HOOKS,
    test: 'shows on the board, the statistics and in the metrics, as the vendor told it',
  },

  // Actions
  {
    says: 'confirmed where they end work, recorded with who asked',
    file: PAGES,
    test: 'that end work ask first, say what came of it, and tell who asked',
  },
  { says: 'sent at once where not; a refusal is told', file: PAGES, test: 'that do not are sent at once; a refusal is told' },
  {
    says: 'answered within a second, visible to every open page',
    file: PAGES,
    test: 'pause takes a reason and shows on every open page within a second, until resumed',
  },

  // Accessible
  {
    says: 'axe finds nothing: 0, 3 and 1,000 sessions at every width, light and dark',
    file: LOOKS,
    test: 'the board fits every width in light and dark, and axe finds nothing',
  },
  { says: 'axe finds nothing on any other page', file: LOOKS, test: 'fits every width in light and dark, and axe finds nothing' },
  { says: 'everything by keyboard', file: PAGES, test: 'can be used by keyboard alone' },
  { says: 'screen-reader names', file: LIVE, test: 'is usable with the names people look for' },
  {
    says: 'focus kept over live updates',
    file: LIVE,
    test: 'keeps focus, selection, scroll and unfolded text while rows come and go around them',
  },
  { says: 'reduced motion', file: LIVE, test: 'moves nothing where no motion is wanted' },
  {
    says: 'right-to-left and very long text',
    file: LOOKS,
    test: 'text of either direction and of any length stays in its place',
  },
  { says: 'no sideways scroll at 320 px', file: LIVE, test: 'words without a break do not widen the page' },
  {
    says: 'times in the zone of the reader, UTC at hand',
    file: PAGES,
    test: 'times stand in the zone of the reader, with UTC at hand',
  },

  // The page itself
  { says: 'read without scripts', file: LIVE, test: 'shows everything with scripts off, and reloads itself' },
  { says: 'under 60 kB for a first view', file: VALUES, test: 'is under 60 kB for a first view, style and script included' },
  { says: 'nothing in an issue runs', file: LIVE, test: 'runs nothing and breaks nothing, whatever an issue is called' },
  {
    says: 'held connections keep nobody out',
    file: 'src/server/http/listen.test.ts',
    test: 'do not keep anybody out, however many they are',
  },
  {
    says: 'event streams are capped',
    file: 'src/server/events-stream.test.ts',
    test: 'opens no more streams than it can hold, and again when one ended',
  },
];
