import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Playground } from '../../support/daemon.ts';
import { EXAMPLES, scriptFile, writeToken, type Forge } from './forge.ts';
import type { Origin } from './origin.ts';

/** What a user has who followed the documentation: the hooks, the prompt of the example, and an agent that commits. */
export interface UserSetup {
  readonly hooks: string;
  readonly agent: string;
  readonly body: string;
  /** What the agent was given, in order. */
  prompts(): Promise<readonly string[]>;
}

export async function asUsersDo(forge: Forge, ground: Playground, origin: Origin): Promise<UserSetup> {
  await writeToken(forge, ground);
  const example = await readFile(path.join(EXAMPLES, forge.script.example), 'utf8');
  return {
    hooks: [
      `after_create: git clone --quiet ${origin.path} .`,
      `before_run: sh ${scriptFile('prepare-branch.sh')}`,
      `after_run: sh ${scriptFile(forge.script.name)} ${forge.front.url} ${forge.project}`,
    ].join('\n'),
    agent: `kind: claude-code\nmax_turns: 1\ncommand: ${await writeAgent(ground)}`,
    body: example.split('\n---\n')[1] ?? '',
    async prompts() {
      const names = (await readdir(ground.path('prompts'))).toSorted();
      return Promise.all(names.map((name) => readFile(ground.path('prompts', name), 'utf8')));
    },
  };
}

const SUCCESS = fileURLToPath(new URL('../../../src/agents/claude-code/fixtures/success.jsonl', import.meta.url));

/** Speaks like the real one, keeps its prompts, and changes one file. */
async function writeAgent(ground: Playground): Promise<string> {
  const program = ground.path('agent.sh');
  await mkdir(ground.path('prompts'));
  const lines = [
    '#!/bin/sh',
    `cat > "${ground.path('prompts')}/$(ls ${ground.path('prompts')} | wc -l | tr -d ' ')"`,
    'echo "more work" >> work.txt && git add . && git commit --quiet --message "Work"',
    `cat ${SUCCESS}`,
  ];
  await writeFile(program, `${lines.join('\n')}\n`);
  await chmod(program, 0o755);
  return program;
}
