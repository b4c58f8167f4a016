import { fileURLToPath } from 'node:url';

/** One real program, and how it is told to talk to the scripted model. */
export interface Program {
  readonly name: string;
  /** The agent kind that drives it. */
  readonly kind: 'acp' | 'claude-code' | 'codex';
  readonly command: readonly string[];
  /** As the program names it; null where it names none. */
  readonly model: string | null;
  /** Options of the agent kind, as lines of the workflow file. */
  readonly options: readonly string[];
  /** Options, instead of those, under which the model may not write files. */
  readonly denying: readonly string[];
  env(apiUrl: string): Readonly<Record<string, string>>;
  /** Files of its home, by their path in it. */
  files(apiUrl: string): Readonly<Record<string, string>>;
  /** Silence after which a turn counts as stalled: longer than the program takes to start on a busy machine. */
  readonly stallMs: number;
  /** The model requests of a turn whose tokens it tells. */
  readonly tellsTokensOf: 'every request' | 'the last request';
  /** Whether it tells the cached share of the input, thoughts beside the answer, and tokens before a turn has ended. */
  readonly tellsCached: boolean;
  readonly tellsThoughts: boolean;
  readonly tellsLiveTokens: boolean;
  /** Whose price a run shows: the program's own, or that of our list, which has none for some models. */
  readonly cost: 'its own' | 'its own, with requests beside the turn' | 'by list';
  /** Whether it takes the tools of the issue, and asks before it acts. */
  readonly takesTools: boolean;
  readonly asks: boolean;
  /** Its adapter is proven by others of the same kind: only what differs between programs is tried. */
  readonly isBrief?: true;
  /** Why it cannot be tried on this machine. */
  readonly missing?: string;
  /** Hosts that it asks for, whatever it is told. */
  readonly reaches?: readonly string[];
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
  tellsTokensOf: 'every request',
  tellsCached: true,
  tellsThoughts: true,
  tellsLiveTokens: true,
  cost: 'its own, with requests beside the turn',
  takesTools: true,
  asks: true,
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
  tellsTokensOf: 'every request',
  tellsCached: true,
  tellsThoughts: true,
  tellsLiveTokens: true,
  cost: 'by list',
  takesTools: true,
  asks: true,
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
  tellsTokensOf: 'every request',
  tellsCached: false,
  tellsThoughts: false,
  tellsLiveTokens: false,
  cost: 'by list',
  takesTools: true,
  asks: true,
};

export const claudeAgentAcp: Program = {
  ...claudeCode,
  name: 'claude-agent-acp',
  kind: 'acp',
  command: [installed('claude-agent-acp')],
  options: ['mode: acceptEdits'],
  denying: ['permission: deny', 'mode: default'],
  env: (apiUrl) => ({
    ...claudeCode.env(apiUrl),
    ANTHROPIC_MODEL: 'claude-sonnet-4-5',
    IS_SANDBOX: '1',
    // What it does for a person who watches: a guess of the next prompt, news, figures for its maker.
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  stallMs: 15_000,
  isBrief: true,
};

const COMPATIBLE = { OPENAI_API_KEY: 'sk-scripted', OPENAI_MODEL: 'scripted-model' };

export const qwenCode: Program = {
  ...geminiCli,
  name: 'Qwen Code',
  command: [installed('qwen'), '--acp'],
  model: '$runtime|openai|scripted-model(openai)',
  // It asks the model before its tool servers have started, unless it is told to wait.
  env: (apiUrl) => ({ ...COMPATIBLE, OPENAI_BASE_URL: `${apiUrl}/v1`, QWEN_CODE_LEGACY_MCP_BLOCKING: '1' }),
  files: () => ({ '.qwen/settings.json': JSON.stringify(QWEN_SETTINGS) }),
  // By default it lets the model decide what to ask.
  options: ['mode: default'],
  denying: ['permission: deny', 'mode: default'],
  tellsCached: true,
  tellsThoughts: true,
  tellsLiveTokens: true,
  isBrief: true,
};

const QWEN_SETTINGS = {
  general: { enableAutoUpdate: false, disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: 'openai' } },
  // Requests of its own beside the turn, and tools that the model has to look for.
  ui: { enableFollowupSuggestions: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
  tools: { toolSearch: { enabled: false } },
};

export const openCode: Program = {
  name: 'OpenCode',
  kind: 'acp',
  command: [installed('opencode'), 'acp'],
  model: 'scripted/scripted-model',
  options: [],
  denying: ['permission: deny'],
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  files: (apiUrl) => ({ '.config/opencode/opencode.json': JSON.stringify(openCodeConfig(apiUrl)) }),
  stallMs: 15_000,
  tellsTokensOf: 'the last request',
  tellsCached: true,
  tellsThoughts: true,
  tellsLiveTokens: false,
  cost: 'its own',
  takesTools: true,
  asks: false,
  isBrief: true,
  ...(process.arch === 'x64' ? {} : { missing: 'the lock holds OpenCode for x64 only' }),
  // It looks for what its plugins may need.
  reaches: ['registry.npmjs.org:443'],
};

export const copilot: Program = {
  ...geminiCli,
  name: 'GitHub Copilot CLI',
  command: [installed('copilot'), '--acp'],
  model: null,
  env: (apiUrl) => ({
    COPILOT_MODEL: 'gpt-5.1',
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_API_KEY: 'sk-scripted',
    COPILOT_PROVIDER_BASE_URL: `${apiUrl}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
  }),
  files: () => ({}),
  tellsCached: true,
  tellsThoughts: true,
  takesTools: false,
  isBrief: true,
};

/** What its configuration says that the model costs. */
export const OPEN_CODE_PRICE = { inputPerMtok: 1, outputPerMtok: 2, cacheReadPerMtok: 0.1 };

function openCodeConfig(apiUrl: string): object {
  const { inputPerMtok: input, outputPerMtok: output, cacheReadPerMtok: cache_read } = OPEN_CODE_PRICE;
  const model = { name: 'Scripted', cost: { input, output, cache_read }, limit: { context: 128_000, output: 8_000 } };
  return {
    model: 'scripted/scripted-model',
    small_model: 'scripted/scripted-model',
    autoupdate: false,
    share: 'disabled',
    enabled_providers: ['scripted'],
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${apiUrl}/v1`, apiKey: 'sk-scripted' },
        models: { 'scripted-model': model },
      },
    },
  };
}

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
