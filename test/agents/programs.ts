import { fileURLToPath } from 'node:url';

/** One real program, and how it is told to talk to the scripted model. */
export interface Program {
  readonly name: string;
  /** The agent kind that drives it. */
  readonly kind: 'acp' | 'claude-code' | 'codex';
  readonly command: readonly string[];
  readonly model: string;
  /** Options of the agent kind, as lines of the workflow file. */
  readonly options: readonly string[];
  /** Options, instead of those, under which the model may not write files. */
  readonly denying: readonly string[];
  env(apiUrl: string): Readonly<Record<string, string>>;
  /** Files of its home, by their path in it. */
  files(apiUrl: string): Readonly<Record<string, string>>;
  /** Silence after which a turn counts as stalled: longer than the program takes to start on a busy machine. */
  readonly stallMs: number;
  /** Whether it tells the cached share of the input. */
  readonly tellsCached: boolean;
}

function installed(name: string): string {
  return fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));
}

export const claudeCode: Program = {
  name: 'Claude Code',
  kind: 'claude-code',
  command: [installed('claude')],
  model: 'claude-sonnet-4-5',
  options: ['model: claude-sonnet-4-5'],
  denying: ['model: claude-sonnet-4-5', 'permission_mode: default'],
  env: (apiUrl) => ({ ANTHROPIC_BASE_URL: apiUrl, ANTHROPIC_API_KEY: 'sk-ant-scripted', CLAUDE_CODE_MAX_RETRIES: '1' }),
  files: () => ({}),
  stallMs: 8_000,
  tellsCached: true,
};

export const codex: Program = {
  name: 'Codex',
  kind: 'codex',
  command: [installed('codex'), 'app-server'],
  model: 'gpt-5.1-codex',
  options: [],
  denying: ['sandbox: read-only', 'approval_policy: on-request'],
  env: () => ({ SCRIPTED_KEY: 'sk-scripted' }),
  files: (apiUrl) => ({ '.codex/config.toml': codexConfig(apiUrl) }),
  stallMs: 8_000,
  tellsCached: true,
};

export const codexAcp: Program = {
  ...codex,
  name: 'codex-acp',
  kind: 'acp',
  command: [installed('codex-acp')],
  model: 'gpt-5.1-codex[medium]',
  // By default it lets a model of its own decide what to ask.
  options: ['mode: workspace-write'],
  denying: ['mode: read-only', 'permission: deny'],
};

export const geminiCli: Program = {
  name: 'Gemini CLI',
  kind: 'acp',
  command: [installed('gemini'), '--acp', '--skip-trust', '--model', 'gemini-2.5-flash'],
  model: 'gemini-2.5-flash',
  options: [],
  denying: ['permission: deny'],
  env: (apiUrl) => ({ GEMINI_API_KEY: 'scripted-key', GOOGLE_GEMINI_BASE_URL: apiUrl }),
  files: () => ({ '.gemini/settings.json': JSON.stringify(GEMINI_SETTINGS) }),
  stallMs: 15_000,
  tellsCached: false,
};

const GEMINI_SETTINGS = {
  general: { enableAutoUpdate: false, maxAttempts: 2 },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: 'gemini-api-key' } },
};

function codexConfig(apiUrl: string): string {
  return [
    'model = "gpt-5.1-codex"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "Scripted"',
    `base_url = "${apiUrl}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
    '[analytics]',
    'enabled = false',
    '[features]',
    'plugins = false',
    '',
  ].join('\n');
}
