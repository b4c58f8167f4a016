// `npm run test:editor`: the JSON Schema as editors use it, with the YAML language server from the registry.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const SERVER = 'yaml-language-server@2.0.0';
const TEXT = `# yaml-language-server: $schema=./foray.schema.json
tracker:
  kind: file
  active_states: [todo]
agent:
  max_turn: 3
  max_turns: many
`;

const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-editor-'));
try {
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, SERVER], {
    stdio: 'inherit',
  });
  await writeFile(path.join(folder, 'foray.schema.json'), execFileSync(process.execPath, ['dist/cli.js', 'schema']));
  await writeFile(path.join(folder, 'front-matter.yaml'), TEXT);
  await tryServer(pathToFileURL(path.join(folder, 'front-matter.yaml')).href);
  console.log('the YAML language server finds what is wrong and explains what is right');
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function tryServer(uri) {
  const program = path.join(folder, 'node_modules/yaml-language-server/bin/yaml-language-server');
  const server = spawn(process.execPath, [program, '--stdio'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const { ask, tell, told } = speak(server);
    await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} });
    tell('initialized', {});
    tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text: TEXT } });
    const { diagnostics } = await told('textDocument/publishDiagnostics', (found) => found.diagnostics.length > 0);
    const messages = diagnostics.map(({ message, range }) => `${range.start.line + 1}: ${message}`);
    expect(
      messages.some((text) => text.startsWith('6: ') && text.includes('max_turn')),
      'a misspelt key',
      messages,
    );
    expect(
      messages.some((text) => text.startsWith('7: ')),
      'a wrong type',
      messages,
    );
    const hover = await ask('textDocument/hover', { textDocument: { uri }, position: { line: 2, character: 3 } });
    expect(/tracker/i.test(JSON.stringify(hover)), 'the meaning of a key', hover);
  } finally {
    server.kill();
  }
}

function expect(holds, what, seen) {
  if (!holds) throw new Error(`the language server does not tell ${what}: ${JSON.stringify(seen)}`);
}

/** The base protocol of language servers: JSON-RPC behind a Content-Length header. */
function speak(server) {
  const waiting = [];
  let buffer = Buffer.alloc(0);
  let last = 0;
  server.stdout.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, Math.max(end, 0)).toString())?.[1]);
      if (end < 0 || buffer.length < end + 4 + length) return;
      const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString());
      buffer = buffer.subarray(end + 4 + length);
      if (message.id !== undefined && message.method) send({ id: message.id, result: [] });
      for (const look of Array.from(waiting)) look(message);
    }
  });
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const until = (matches, pick) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the language server did not answer within 30 s')), 30_000);
      const look = (message) => {
        if (!matches(message)) return;
        clearTimeout(timer);
        waiting.splice(waiting.indexOf(look), 1);
        resolve(pick(message));
      };
      waiting.push(look);
    });
  return {
    tell: (method, params) => send({ method, params }),
    ask(method, params) {
      const id = (last += 1);
      const answer = until(
        (message) => message.id === id && !message.method,
        ({ result }) => result,
      );
      send({ id, method, params });
      return answer;
    },
    told: (method, holds) =>
      until(
        (message) => message.method === method && holds(message.params),
        ({ params }) => params,
      ),
  };
}
