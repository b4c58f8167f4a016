import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { giteaFromEnvironment } from './gitea/ground.ts';

/** Tells at the end how many cases of each document were shown by which server, or what to set. */
export function createCaseCounter(): Reporter {
  return {
    onTestRunEnd: async (modules) => {
      const server = giteaFromEnvironment();
      if (!server) {
        const what = 'set GITEA_URL and GITEA_ADMIN_TOKEN (a token of an administrator) to run against a real Gitea or Forgejo';
        return console.log(`skipped: ${what}`);
      }
      console.log(`server version ${await versionOf(server.url)}`);
      for (const [document, { passed, failed }] of countsOf(modules)) {
        console.log(`${document}: ${String(passed)} cases passed, ${String(failed)} failed`);
      }
    },
  };
}

interface Counts {
  passed: number;
  failed: number;
}

// The outermost `describe` of each file begins with the document it is about.
function countsOf(modules: readonly TestModule[]): readonly (readonly [document: string, Counts])[] {
  const counts = new Map<string, Counts>();
  for (const test of modules.flatMap((module) => [...module.children.allTests()])) {
    const document = documentOf(test);
    const count = counts.get(document) ?? { passed: 0, failed: 0 };
    counts.set(document, count);
    const { state } = test.result();
    if (state === 'passed' || state === 'failed') count[state] += 1;
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function documentOf({ fullName }: TestCase): string {
  return /^documents? [\d to]*\d/.exec(fullName)?.[0] ?? 'other';
}

async function versionOf(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/version`, { signal: AbortSignal.timeout(30_000) });
  return ((await response.json()) as { version: string }).version;
}
