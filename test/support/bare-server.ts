import { spawn, type ChildProcess } from 'node:child_process';

/** What a daemon said to a request: its headers, and as many bytes. */
export interface Sample {
  readonly route: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
}

/** Asks once for each of the routes. */
export async function sampleAnswers(url: string, routes: readonly string[]): Promise<readonly Sample[]> {
  return Promise.all(
    routes.map(async (route) => {
      const answer = await fetch(`${url}${route}`);
      const bytes = (await answer.arrayBuffer()).byteLength;
      const { date: _, connection: _kept, 'keep-alive': _long, ...headers } = Object.fromEntries(answer.headers);
      return { route, headers: { ...headers, 'content-length': String(bytes) }, bytes };
    }),
  );
}

/** In a process of its own: what Node's server alone takes for the same headers and as many bytes, whatever they say. */
const SERVER = `
  const samples = JSON.parse(process.argv[1]).map((sample) => ({ ...sample, body: Buffer.alloc(sample.bytes, 120) }));
  const byRoute = new Map(samples.map((sample) => [sample.route, sample]));
  const server = require('node:http').createServer((request, response) => {
    const { headers, body } = byRoute.get(request.url) ?? samples[0];
    response.writeHead(200, headers);
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/** Answers other routes as the first of the samples. */
export async function startBareServer(
  samples: readonly Sample[],
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, ['-e', SERVER, JSON.stringify(samples)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the bare server ended')));
  });
  return { url, child };
}
