import { z } from 'zod';
import type { AgentFacts } from '../ports/agent-kind.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { once } from '../lib/once.ts';
import { agentSection } from './agent-schema.ts';
import {
  amount,
  authors,
  byDefault,
  choice,
  filledText,
  flag,
  milliseconds,
  text,
  textList,
  textOrNumber,
  wholeNumber,
} from './fields.ts';
import { notificationsKey } from './notifications.ts';
import { reactionsSection } from './reaction-keys.ts';

/**
 * The sections of the front matter. Every one of them accepts an empty map, so that a file's remaining keys can be
 * judged when some of them are faulty; what must be written is checked afterwards, where the kind is known.
 */
export function workflowSections(providers: readonly ProviderFacts[], agentKinds: readonly AgentFacts[]) {
  const reactions = once(() => reactionsSection(providers));
  return {
    tracker: trackerSection(providers.flatMap((provider) => [provider.kind, ...provider.aliases])),
    polling: pollingSection,
    workspace: workspaceSection,
    hooks: hooksSection,
    agent: agentSection(agentKinds.map((agent) => agent.kind)),
    worker: workerSection,
    server: serverSection,
    store: storeSection,
    logging: loggingSection,
    token_rates: tokenRatesSection(agentKinds),
    self_review: selfReviewSection,
    // The largest, and most files have none.
    get reactions() {
      return reactions();
    },
  };
}

/** Sections that say nothing when they are not written: no key of theirs has a default. */
export const SILENT_SECTIONS: ReadonlySet<string> = new Set(['reactions', 'store', 'token_rates']);

type SectionSchemas = ReturnType<typeof workflowSections>;
export type SectionName = keyof SectionSchemas;
/** What the sections say, in the file's own spelling. */
export type Sections = { readonly [Name in SectionName]: z.output<SectionSchemas[Name]> };

/** The keys that stand at the top by themselves. */
export const topLevelKeys = z.strictObject({
  db_path: filledText('Database file, relative to this file; `~` and `$NAME` expand. By default `.foray.db`.').optional(),
  db_retention_days: byDefault(
    wholeNumber({ min: 0, max: 36_500 }, 'Days after its end at which a run is forgotten; its sums stay. 0 keeps it.'),
    90,
  ),
  notifications: notificationsKey,
});

function trackerSection(kinds: readonly string[]) {
  return z
    .strictObject({
      kind: text('The issue tracker to watch.')
        .meta({ enum: [...kinds] })
        .optional(),
      api_key: text('Credential; its format depends on the kind. Write `$NAME` to take it from the environment.').optional(),
      project: textOrNumber('Project scope; its format depends on the kind.').optional(),
      endpoint: text('Base URL of the tracker.').optional(),
      active_states: textList('States whose issues are worked on.').optional(),
      terminal_states: textList('States in which an issue is finished and its workspace is removed.').optional(),
      handoff_state: filledText('State set after a successful run. Without one, nothing is handed off.').optional(),
      in_progress_state: filledText('State set when an issue is dispatched; one of `active_states`.').optional(),
      no_change_state: filledText('State for an issue that needs no change. By default `handoff_state`.').optional(),
      query_filter: text('Narrows the issues that are fetched, in the query language of the tracker.').optional(),
      authors: byDefault(
        authors(
          'Whose issues are worked on and whose comments reach a prompt: `anyone`, `collaborators` (people with write access, on the kinds that tell), or a list of user names.',
        ),
        'anyone',
      ),
      approval_label: filledText(
        'Only issues that carry this label are worked on, and only as long as their text is what it was when the label was first seen.',
      ).optional(),
      quota_reserve_percent: byDefault(
        wholeNumber({ min: 0, max: 95 }, 'Share of the quota of the tracker, in percent, that polls leave to people.'),
        20,
      ),
      user_agent: filledText(
        'User-Agent header of tracker calls, on GitHub and Jira. By default `svc/dev`; the other kinds always send `svc/<version>`.',
      ).optional(),
      comments: z
        .strictObject({
          on_dispatch: byDefault(flag('Comment when work on an issue starts.'), false),
          on_completion: byDefault(flag('Comment when a run succeeded.'), false),
          on_failure: byDefault(flag('Comment when a run failed; not when it met a usage limit.'), false),
        })
        .prefault({})
        .describe('Which events are told to the tracker as comments.'),
    })
    .meta({ description: 'The issue tracker.', required: ['kind'] });
}

const pollingSection = z
  .strictObject({ interval_ms: byDefault(milliseconds(10, 'Time between two polls of the tracker.'), 30_000) })
  .describe('How often the tracker is asked.');

const workspaceSection = z
  .strictObject({
    root: filledText(
      'Directory that holds the workspaces, relative to this file; `~` and `$NAME` expand. By default a state directory of the user.',
    ).optional(),
    retention_days: byDefault(
      wholeNumber({ min: 0, max: 36_500 }, 'Days after its last use at which a workspace is removed; 0 keeps it.'),
      0,
    ),
    removed_days: byDefault(
      wholeNumber(
        { min: 0, max: 36_500 },
        'Days that a directory of a finished issue is kept in `.foray-removed/` when nobody marked it as ours.',
      ),
      7,
    ),
    repo: filledText(
      'Repository that each workspace is checked out from, as `git@host:owner/name.git` or `https://host/owner/name.git`; `$NAME` expands. One clone is shared by all issues, each of which has a branch `foray/<identifier>`.',
    ).optional(),
    repo_token: filledText(
      'Token for an https `repo`, as `$NAME`. By default that of the tracker or of the reactions, where they are on the same host.',
    ).optional(),
    base_branch: filledText('Branch that requests are merged into. By default the default branch of the repository.').optional(),
    push: flag(
      'Commit what is left, push the branch and open the merge request after a successful run. By default on with `repo` and a tracker that is a forge, off with any other.',
    ).optional(),
  })
  .describe('Where agents work.');

const hooksSection = z
  .strictObject({
    after_create: filledText('Shell script run in a new workspace; a failure removes it again.').optional(),
    before_run: filledText('Shell script run before each session; a failure fails the attempt.').optional(),
    after_run: filledText('Shell script run after each session.').optional(),
    before_remove: filledText('Shell script run before a workspace is removed.').optional(),
    timeout_ms: byDefault(milliseconds(1, 'Time one hook may take.'), 60_000),
  })
  .describe('Shell scripts at the turning points of a workspace.');

const workerSection = z
  .strictObject({
    ssh_hosts: byDefault(
      z
        .array(filledText('A host as `ssh` knows it, such as `build1` or `user@build1`.'))
        .describe('Hosts that agents run on, over OpenSSH. By default agents run on this machine.'),
      [],
    ),
    ssh_root: filledText(
      'Directory on each host that holds the workspaces, absolute or with `~/`. By default `~/.local/state/foray/workspaces/` and the name of this workflow.',
    ).optional(),
    ssh_env: byDefault(
      z
        .array(filledText('The name of a variable.'))
        .describe('Variables of the daemon that agents on the hosts are given besides those of their login.'),
      [],
    ),
    max_concurrent_agents_per_host: byDefault(
      wholeNumber({ min: 0 }, 'Sessions at the same time on one host; 0: no limit but `agent.max_concurrent_agents`.'),
      0,
    ),
  })
  .describe('Other hosts that agents run on.');

const serverSection = z
  .strictObject({
    port: wholeNumber(
      { min: 0, max: 65_535 },
      'Port of the HTTP server on 127.0.0.1; 0 takes any free one. Without it there is none.',
    ).optional(),
    host: byDefault(filledText('Address to listen on. Any other than 127.0.0.1 needs `server.token`.'), '127.0.0.1'),
    token: text(
      'Asked of everybody, as a bearer token or on the login page. Write `$NAME` to take it from the environment.',
    ).optional(),
    allowed_hosts: byDefault(
      z
        .array(filledText('A host name, with a port or without.'))
        .describe('Host names the server answers to besides those of this machine.'),
      [],
    ),
    public_url: filledText(
      'Address under which people reach the dashboard from elsewhere, for links in notifications. By default the one it listens on.',
    ).optional(),
    webhooks: z
      .strictObject({
        secret: text(
          'Shared with the tracker, which signs its webhooks with it. Write `$NAME` to take it from the environment.',
        ).optional(),
      })
      .prefault({})
      .describe('Webhooks of the tracker, which bring the next poll forward.'),
  })
  .describe('The HTTP server.');

const storeSection = z
  .strictObject({
    url: filledText(
      'Address of a PostgreSQL database, `postgres://user:password@host/database?sslmode=verify-full`, that several daemons share; `$NAME` expands. Without it the file of `db_path` is used.',
    ).optional(),
  })
  .describe('Where the records are kept.');

const loggingSection = z
  .strictObject({
    level: byDefault(choice(['debug', 'info', 'warn', 'error'], 'Least level that is logged.'), 'info'),
    format: byDefault(choice(['text', 'json'], 'Form of a log record.'), 'text'),
  })
  .describe('The log.');

function tokenRatesSection(agentKinds: readonly AgentFacts[]) {
  const rates = z
    .strictObject({
      input_per_mtok: amount('Dollars for a million input tokens.'),
      output_per_mtok: amount('Dollars for a million output tokens.'),
      cache_read_per_mtok: amount('Dollars for a million cached input tokens. By default the input rate.').optional(),
    })
    .meta({ description: 'Prices of this agent kind.', required: ['input_per_mtok', 'output_per_mtok'] });
  return z
    .strictObject(Object.fromEntries(agentKinds.map((agent) => [agent.kind, rates.optional()])))
    .describe('Prices by agent kind, to estimate what a run costs.');
}

const selfReviewSection = z
  .strictObject({
    enabled: byDefault(flag('Have the agent check its work before the session ends.'), false),
    max_iterations: byDefault(wholeNumber({ min: 1, max: 10 }, 'Rounds of checking and mending.'), 3),
    verification_commands: byDefault(
      z.array(filledText('A shell command.')).describe('Shell commands that must succeed in the workspace.'),
      [],
    ),
    verification_timeout_ms: byDefault(milliseconds(1, 'Time one verification command may take.'), 120_000),
  })
  .describe('Checks of the work by the agent itself.');
