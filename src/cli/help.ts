/** The manual that fits a screen. */
export const HELP = `foray watches one issue tracker and turns issues into coding-agent sessions.

Usage:
  foray [--port N] [--dry-run] [--log-level L] [--log-format text|json] [WORKFLOW.md]
  foray validate [--format text|json] [WORKFLOW.md]
  foray unpark IDENTIFIER [WORKFLOW.md]
  foray demo [--port N]
  foray schema
  foray mcp

Commands:
  (none)     run the service until it is interrupted
  validate   check a workflow file without the network
  unpark     let a parked issue run again, with or without a running service
  demo       try it now: made-up issues, a mock agent and the dashboard, no account needed
  mcp        the tool server of a running session; agents start it
  schema     print the JSON Schema of the front matter, for editors

Options:
  --port N         serve dashboard, API and metrics on 127.0.0.1:N (0 picks a free port)
  --dry-run        one poll that reports what would be dispatched and changes nothing
  --log-level L    debug, info, warn or error
  --log-format F   text or json
  -h, --help       this page
  -V, --version    the version

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 or 143 after a second signal.
`;
