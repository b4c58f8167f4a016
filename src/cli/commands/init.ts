import { workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'init',
  summary: 'write a workflow file for your tracker; checks the token',
  usage: '[--tracker KIND] [--project P] [flags] [FILE]',
  flags: [
    { name: 'tracker', value: 'KIND', offered: 'trackers', summary: 'file, github, gitlab, gitea, forgejo, jira or linear' },
    { name: 'project', value: 'P', summary: 'owner/repo, group/project, a project or team key; for file the path of the issues' },
    { name: 'endpoint', value: 'URL', summary: 'address of your own site (of GitHub Enterprise: its API)' },
    { name: 'repo', value: 'URL', summary: 'repository to check out, where it is not that of the project' },
    { name: 'agent', value: 'KIND', offered: 'agents', summary: 'claude-code (default), codex, acp or mock' },
    {
      name: 'token-env',
      value: 'NAME',
      summary: 'variable that holds the token (for jira email:token); the file names it, never its value',
    },
    { name: 'active', value: 'A,B', summary: 'states (or labels) to work on' },
    { name: 'terminal', value: 'C,D', summary: 'states that are over' },
    { name: 'handoff', value: 'S', summary: 'state that finished work is moved to' },
    { name: 'yes', short: 'y', summary: 'take what is proposed, ask nothing' },
    { name: 'force', summary: 'overwrite an existing file' },
  ],
  example: 'foray init --tracker github --project acme/shop',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    return (await import('../actions/init.ts')).init(args, workflowOf(args, 0));
  },
};
