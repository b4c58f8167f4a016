import { describe, expect, it } from 'vitest';
import { REACTION_KINDS } from '../domain/reactions/registry.ts';
import type { LoadContext } from './workflow.ts';
import { readWorkflow } from './workflow.ts';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';

const TRACKER =
  'tracker: { kind: gitlab, api_key: key-123456, project: g/p, active_states: [todo], terminal_states: [done], handoff_state: review }';

function read(yaml: string, context?: Partial<LoadContext>) {
  return readWorkflow(`---\n${yaml}\n---\nDo it.\n`, '/srv/WORKFLOW.md', fakeContext(context));
}

function lines(yaml: string, context?: Partial<LoadContext>): string[] {
  return read(yaml, context).problems.map(formatProblem);
}

const SHARED = { watchWindowMs: 604_800_000, escalation: 'label', escalationLabel: 'needs-human' };

describe('a reaction with nothing but its provider', () => {
  const rows = [
    ['ci_failure', { ...SHARED, budget: 2, pollIntervalMs: 60_000, watchWindowMs: 86_400_000, maxLogLines: 50 }],
    ['review_comments', { ...SHARED, budget: 3, pollIntervalMs: 120_000, debounceMs: 60_000, trust: 'collaborators' }],
    ['bot_review', { ...SHARED, budget: 5, pollIntervalMs: 60_000, botUsernames: [], trust: 'collaborators' }],
    ['merge_conflicts', { ...SHARED, budget: 1, pollIntervalMs: 60_000 }],
    [
      'auto_merge',
      {
        ...SHARED,
        budget: 2,
        pollIntervalMs: 60_000,
        strategy: 'squash',
        requireCi: true,
        deleteBranch: true,
        dryRun: false,
        ciGraceMs: 60_000,
      },
    ],
    ['merge_completion', { ...SHARED, budget: 2, pollIntervalMs: 60_000, watchWindowMs: 0, targetState: 'done' }],
    [
      'label_commands',
      { ...SHARED, budget: 3, pollIntervalMs: 60_000, watchWindowMs: 0, reviewLabel: 'foray:review', fixLabel: 'foray:fix' },
    ],
  ] as const;

  it.each(rows)('%s has its defaults and switches nothing else on', (kind, expected) => {
    const { problems, settings } = read(`${TRACKER}\nreactions: { ${kind}: { provider: gitlab } }`);
    expect(problems).toEqual([]);
    const connection = {
      kind: 'nsproject',
      name: 'gitlab',
      apiKey: 'key-123456',
      endpoint: 'https://gitlab.example.test',
      project: 'g/p',
      userAgent: 'svc/dev',
    };
    expect(settings?.reactions).toEqual({
      provider: 'nsproject',
      forge: 'nsproject https://gitlab.example.test',
      connection,
      projects: ['g/p'],
      votes: 'collaborators',
      on: { [kind]: expected },
    });
  });

  it('covers every kind', () => {
    expect(rows.map(([kind]) => kind)).toEqual([...REACTION_KINDS]);
  });
});

describe('written values', () => {
  it('win over the block of the provider, which wins over the defaults', () => {
    const block = 'gitlab: { bot_usernames: [b], max_log_lines: 9, require_ci: false, strategy: rebase, user_agent: me/1 }';
    const bare = ['ci_failure', 'bot_review', 'auto_merge'].map((kind) => `${kind}: { provider: nsproject }`).join(', ');
    const own =
      'ci_failure: { provider: gitlab, max_log_lines: 0 }, bot_review: { provider: gitlab, bot_usernames: [x] }, auto_merge: { provider: gitlab, require_ci: true, strategy: merge }';
    const fromBlock = read(`${TRACKER}\n${block}\nreactions: { ${bare} }`).settings?.reactions;
    expect(fromBlock).toMatchObject({
      on: {
        ci_failure: { maxLogLines: 9 },
        bot_review: { botUsernames: ['b'] },
        auto_merge: { requireCi: false, strategy: 'rebase' },
      },
      connection: { userAgent: 'me/1' },
    });
    expect(read(`${TRACKER}\n${block}\nreactions: { ${own} }`).settings?.reactions.on).toMatchObject({
      ci_failure: { maxLogLines: 0 },
      bot_review: { botUsernames: ['x'] },
      auto_merge: { requireCi: true, strategy: 'merge' },
    });
  });

  it('reach the settings', () => {
    const { problems, settings } = read(`${TRACKER}
reactions:
  ci_failure: { provider: nsproject, max_retries: "4", poll_interval_ms: 100, watch_window_ms: 5, escalation: comment, escalation_label: x }
  review_comments: { provider: gitlab, max_continuation_turns: 1, max_retries: 9, debounce_ms: 0 }
  bot_review: { provider: gitlab, max_retries: 7 }
  auto_merge: { provider: gitlab, delete_branch: false, dry_run: true, escalation: none }
  label_commands: { provider: gitlab, review_label: "", fix_label: mend }
  merge_conflicts: { max_retries: 3 }`);
    expect(problems.map(({ check }) => check)).toEqual(['reactions.merge_conflicts.provider.missing']);
    expect(settings?.reactions.on).toMatchObject({
      ci_failure: { budget: 4, pollIntervalMs: 100, watchWindowMs: 5, escalation: 'comment', escalationLabel: 'x' },
      review_comments: { budget: 1, debounceMs: 0 },
      bot_review: { budget: 7 },
      auto_merge: { deleteBranch: false, dryRun: true, escalation: 'none' },
      label_commands: { reviewLabel: '', fixLabel: 'mend' },
    });
    expect(settings?.reactions.on.merge_conflicts).toBeUndefined();
  });
});

describe('faults of reactions', () => {
  const rows: readonly (readonly [title: string, yaml: string, line: string])[] = [
    [
      'an unknown reaction',
      'reactions: { ci_fail: { provider: gitlab } }',
      'warning: reactions.unknown_kind: unknown reaction `ci_fail`; known reactions: ci_failure, review_comments, bot_review, merge_conflicts, auto_merge, merge_completion, label_commands; did you mean "ci_failure"? (line 3, column 14)',
    ],
    [
      'a misspelt key that is no reaction',
      'reactions: { project: [g/p] }',
      'warning: reactions.unknown_kind: unknown reaction `project`; known reactions: ci_failure, review_comments, bot_review, merge_conflicts, auto_merge, merge_completion, label_commands; did you mean "projects"? (line 3, column 14)',
    ],
    [
      'an unknown provider',
      'reactions: { auto_merge: { provider: svn } }',
      'error: reactions.auto_merge.provider: unknown kind "svn"; possible providers: nsproject (or gitlab), selfhosted (or gitea, forgejo) (line 3, column 28)',
    ],
    [
      'a provider without a merge-request side',
      'reactions: { auto_merge: { provider: jira } }',
      'error: reactions.auto_merge.provider: the kind jira has no merge-request side; possible providers: nsproject (or gitlab), selfhosted (or gitea, forgejo) (line 3, column 28)',
    ],
    [
      'a provider of the wrong type',
      'reactions: { auto_merge: { provider: 5 } }',
      'error: reactions.auto_merge.provider: must be a string, got a number; put it in quotes (line 3, column 28)',
    ],
    [
      'no provider: it would never do anything',
      'reactions: { auto_merge: { strategy: squash } }',
      'warning: reactions.auto_merge.provider.missing: reactions.auto_merge is off, for it names no provider: write provider: gitlab, or leave the reaction out (line 3, column 14)',
    ],
    [
      'a misspelt provider',
      'reactions: { auto_merge: { provider: gitlb } }',
      'error: reactions.auto_merge.provider: unknown kind "gitlb"; possible providers: nsproject (or gitlab), selfhosted (or gitea, forgejo); did you mean "gitlab"? (line 3, column 28)',
    ],
    [
      'a poll interval below the floor',
      'reactions: { auto_merge: { provider: gitlab, poll_interval_ms: 99 } }',
      'error: reactions.auto_merge.poll_interval_ms: must be a whole number of at least 100, got 99 (line 3, column 46)',
    ],
    [
      'an unknown escalation',
      'reactions: { auto_merge: { provider: gitlab, escalation: mail } }',
      'error: reactions.auto_merge.escalation: must be one of label, comment, none, got "mail" (line 3, column 46)',
    ],
    [
      'an unknown strategy',
      'reactions: { auto_merge: { provider: gitlab, strategy: fast } }',
      'error: reactions.auto_merge.strategy: must be one of merge, squash, rebase, got "fast" (line 3, column 46)',
    ],
    [
      'a strategy of the block',
      'gitlab: { strategy: fast }',
      'error: nsproject.strategy: must be one of merge, squash, rebase, got "fast" (line 3, column 11)',
    ],
    [
      'a misspelt key',
      'reactions: { auto_merge: { provider: gitlab, requireci: true } }',
      'warning: config.unknown_key: unknown key `reactions.auto_merge.requireci`; did you mean `reactions.auto_merge.require_ci`? (line 3, column 46)',
    ],
    [
      'a reaction that is no map',
      'reactions: { auto_merge: true }',
      'error: reactions.auto_merge: must be a map, got true (line 3, column 14)',
    ],
    [
      'a target state that is not terminal',
      'reactions: { merge_completion: { provider: gitlab, target_state: wontfix } }',
      'error: reactions.merge_completion.target_state: the target state "wontfix" must be written in tracker.terminal_states (line 3, column 52)',
    ],
    [
      'both labels empty',
      'reactions: { label_commands: { provider: gitlab, review_label: "", fix_label: " " } }',
      'error: reactions.label_commands: review_label and fix_label are both empty (line 3, column 14)',
    ],
    [
      'one label for two commands',
      'reactions: { label_commands: { provider: gitlab, review_label: Go, fix_label: go } }',
      'error: reactions.label_commands: review_label and fix_label must differ (line 3, column 14)',
    ],
    [
      'an empty escalation label',
      'reactions: { auto_merge: { provider: gitlab, escalation_label: "" } }',
      'warning: reactions.auto_merge.escalation_label: is empty: nobody will be asked by a label (line 3, column 46)',
    ],
    [
      'a variable of the block that is unset',
      'reactions: { auto_merge: { provider: gitlab } }\ngitlab: { api_key: $SCM_TOKEN }',
      'warning: nsproject.api_key.unset_variable: gitlab.api_key is incomplete: $SCM_TOKEN is not set (line 4, column 11)',
    ],
  ];

  it.each(rows)('%s', (_, yaml, line) => {
    expect(lines(`${TRACKER}\n${yaml}`)).toEqual([line]);
  });

  it('a variable in a key of the block that takes none', () => {
    const providers = fakeContext().providers.map((provider) => ({
      ...provider,
      expansion: { ...provider.expansion, endpoint: 'whole' as const },
    }));
    const yaml = 'reactions: { auto_merge: { provider: gitlab } }\ngitlab: { api_key: k, endpoint: "https://$HOST/x" }';
    expect(lines(`${TRACKER}\n${yaml}`, { providers })).toEqual([
      'warning: nsproject.endpoint.not_expanded: gitlab.endpoint: $HOST is not replaced here: only a value that is one reference and nothing else is (line 4, column 23)',
    ]);
  });

  it('a target state that is the handoff state', () => {
    const yaml = TRACKER.replace('[done]', '[done, review]');
    expect(lines(`${yaml}\nreactions: { merge_completion: { provider: gitlab, target_state: Review } }`)).toContain(
      'error: reactions.merge_completion.target_state: the target state "Review" must not be the handoff state (line 3, column 52)',
    );
  });

  it('two providers', () => {
    const yaml = `${TRACKER}\nreactions: { auto_merge: { provider: gitlab }, bot_review: { provider: gitea }, projects: [g/p] }`;
    expect(lines(yaml)).toEqual([
      'error: reactions.provider: all reactions must name the same provider: bot_review names gitea, auto_merge names gitlab (line 3, column 28)',
      'error: selfhosted.api_key: gitea.api_key is required for reactions with provider gitea; set `gitea.api_key`, or `tracker.api_key` with tracker.kind gitea (line 3, column 1)',
      'error: selfhosted.endpoint: gitea.endpoint is required for reactions with provider gitea; set `gitea.endpoint`, or `tracker.endpoint` with tracker.kind gitea (line 3, column 1)',
    ]);
  });

  it('one provider under two names is one provider', () => {
    expect(lines(`${TRACKER}\nreactions: { auto_merge: { provider: gitlab }, bot_review: { provider: nsproject } }`)).toEqual([]);
  });

  it('a provider without CI cannot watch CI', () => {
    expect(
      lines(
        `${TRACKER}\ngitea: { api_key: k, endpoint: "https://x" }\nreactions: { ci_failure: { provider: gitea }, projects: [g/p] }`,
      ),
    ).toEqual([
      'error: reactions.ci_failure.provider: the kind gitea has no CI side; possible providers: nsproject (or gitlab) (line 4, column 28)',
    ]);
  });
});

describe('the connection', () => {
  const JIRA =
    'tracker: { kind: jira, endpoint: "https://j", api_key: "a:b-123456", project: P, active_states: [a], terminal_states: [done] }';

  it("never takes another kind's credentials", () => {
    expect(lines(`${JIRA}\nreactions: { ci_failure: { provider: gitlab }, projects: [g/p] }\ngitlab: { api_key: $T }`)).toEqual([
      'error: nsproject.api_key: gitlab.api_key is required for reactions with provider gitlab: $T is not set; set `gitlab.api_key`, or `tracker.api_key` with tracker.kind gitlab (line 4, column 11)',
      'error: nsproject.project: gitlab.project is required for reactions with provider gitlab; set `gitlab.project`, or `tracker.project` with tracker.kind gitlab (line 4, column 1)',
    ]);
  });

  it('needs a project only for CI', () => {
    expect(lines(`${JIRA}\nreactions: { auto_merge: { provider: gitlab }, projects: [g/p] }\ngitlab: { api_key: k }`)).toEqual(
      [],
    );
  });

  it("comes from the provider's block, with references resolved, under an alias too", () => {
    const yaml = `${JIRA}\nreactions: { auto_merge: { provider: forgejo }, projects: [g/p] }\ngitea: { api_key: "\${T}", endpoint: "https://$H/x", project: $P }`;
    const { problems, settings } = read(yaml, { env: { T: 'tok-123456', H: 'forge.test', P: 'o/r' } });
    expect(problems).toEqual([]);
    expect(settings?.reactions.connection).toEqual({
      kind: 'selfhosted',
      name: 'gitea',
      apiKey: 'tok-123456',
      endpoint: 'https://forge.test/x',
      project: 'o/r',
      userAgent: 'svc/dev',
    });
  });

  it('says nothing of a key that was already refused', () => {
    expect(lines(`${JIRA}\nreactions: { auto_merge: { provider: gitlab }, projects: [g/p] }\ngitlab: { api_key: 5 }`)).toEqual([
      'error: nsproject.api_key: must be a string, got a number; put it in quotes (line 4, column 11)',
    ]);
  });
  describe('of another kind than the tracker', () => {
    const reactions = (keys: string): string[] =>
      lines(`${JIRA}\nreactions: { auto_merge: { provider: gitlab }${keys} }\ngitlab: { api_key: k }`);

    it('needs the projects whose merge requests belong to its issues', () => {
      expect(reactions('')).toEqual([
        'error: reactions.projects.required: reactions.projects is required when the tracker (jira) is of another kind than the provider (gitlab): list the projects whose merge requests belong to these issues, as owner/repo (line 3, column 1)',
      ]);
      expect(reactions(', projects: [g/sub/p]')).toEqual([]);
    });

    it('takes paths only', () => {
      expect(reactions(', projects: [g/p, alone, "a b/c"]').map((line) => line.slice(0, 38))).toEqual([
        'error: reactions.projects: "alone" is ',
        'error: reactions.projects: "a b/c" is ',
      ]);
    });

    it('takes no deeper ones of a forge that has none', () => {
      const yaml = `${JIRA}\nreactions: { auto_merge: { provider: gitea }, projects: [g/p, a/b/c] }\ngitea: { api_key: k, endpoint: "https://x" }`;
      expect(lines(yaml)).toEqual(['error: reactions.projects: "a/b/c" has more parts than owner/repo (line 3, column 63)']);
    });
  });
});
