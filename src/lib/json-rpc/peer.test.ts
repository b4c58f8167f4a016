import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { startProcess, type RunningProcess } from '../process/index.ts';
import { createJsonRpcPeer, JsonRpcClosedError, JsonRpcError, JsonRpcTimeoutError, JsonRpcUnreadableError } from './index.ts';
import type { JsonRpcPeer, JsonRpcPeerOptions } from './index.ts';

type Sent = Record<string, unknown>;

interface Bench {
  readonly peer: JsonRpcPeer;
  readonly sent: Sent[];
  readonly notified: unknown[];
  readonly unreadable: string[];
}

function bench(options: Partial<JsonRpcPeerOptions> = {}): Bench {
  const sent: Sent[] = [];
  const notified: unknown[] = [];
  const unreadable: string[] = [];
  const peer = createJsonRpcPeer({
    send: (line) => void sent.push(JSON.parse(line) as Sent),
    onRequest: (_method, params) => params,
    onNotification: (method, params) => notified.push([method, params]),
    onUnreadable: (_line, why) => unreadable.push(why),
    envelope: 'bare',
    ...options,
  });
  return { peer, sent, notified, unreadable };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('asking', () => {
  it('sends a request and resolves with its result', async () => {
    const { peer, sent } = bench();
    const answer = peer.request('a/b', { x: 1 });
    expect(sent).toEqual([{ id: 1, method: 'a/b', params: { x: 1 } }]);
    peer.receive('{"id":1,"result":{"y":2}}');
    expect(await answer).toEqual({ y: 2 });
  });

  it('carries the version in the jsonrpc envelope, and reads messages with and without it', async () => {
    const { peer, sent, notified } = bench({ envelope: 'jsonrpc' });
    const answer = peer.request('m', undefined);
    peer.notify('n');
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'm' },
      { jsonrpc: '2.0', method: 'n' },
    ]);
    peer.receive('{"jsonrpc":"2.0","method":"x"}');
    peer.receive('{"id":1,"result":null}');
    expect(await answer).toBeNull();
    expect(notified).toEqual([['x', undefined]]);
  });

  it('matches answers in any order and ignores late, double and foreign ones', async () => {
    const { peer } = bench();
    const [one, two] = [peer.request('one', {}), peer.request('two', {})];
    for (const [id, result] of [
      [2, 'b'],
      [2, 'again'],
      [7, 'nobody'],
      ['1', 'text id'],
      [1, 'a'],
    ]) {
      peer.receive(JSON.stringify({ id, result }));
    }
    expect(await Promise.all([one, two])).toEqual(['a', 'b']);
  });

  it.each([
    ['an error', { code: -5, message: 'no', data: 1 }, { code: -5, message: 'no', data: 1 }],
    ['an error without a reason', { code: 3 }, { code: 3, message: 'the other side gave no reason' }],
    ['an error that is no object', 'bad', { code: -32603, message: 'bad' }],
  ])('rejects with %s', async (_name, error, expected) => {
    const { peer } = bench();
    const answer = peer.request('m', {});
    peer.receive(JSON.stringify({ id: 1, error }));
    await expect(answer).rejects.toBeInstanceOf(JsonRpcError);
    await expect(answer).rejects.toMatchObject(expected);
  });

  it('gives up after the time and lets go of the answer that comes later', async () => {
    const { peer } = bench();
    const answer = peer.request('slow', {}, { timeoutMs: 5 });
    await expect(answer).rejects.toThrow(new JsonRpcTimeoutError('slow', 5));
    peer.receive('{"id":1,"result":1}');
  });

  it('gives up with the signal, also one that was aborted before', async () => {
    const { peer, sent } = bench();
    const controller = new AbortController();
    const answer = peer.request('m', {}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await expect(peer.request('m', {}, { signal: controller.signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['too long', `{"id":1,"result":"${'x'.repeat(200)}"}`],
    ['too long with the version first', `{"jsonrpc":"2.0", "id":1, "result":"${'x'.repeat(200)}"}`],
    ['damaged', '{"id":1,"result":{"cut'],
  ])('does not wait for an answer that is %s', async (_name, line) => {
    const { peer, unreadable } = bench({ maxLineLength: 100 });
    const answer = peer.request('big', {});
    peer.receive(line);
    await expect(answer).rejects.toThrow(new JsonRpcUnreadableError('big'));
    expect(unreadable).toHaveLength(1);
  });
});

describe('answering', () => {
  it('answers with what the handler returns, and null for nothing', async () => {
    const { peer, sent } = bench();
    peer.receive('{"id":0,"method":"m","params":{"a":1}}');
    peer.receive('{"id":"s","method":"m"}');
    await soon();
    expect(sent).toEqual([
      { id: 0, result: { a: 1 } },
      { id: 's', result: null },
    ]);
  });

  it('answers with what the handler throws, and tells nothing of an error that was not meant for the other side', async () => {
    const { peer, sent } = bench({
      onRequest: (method) => {
        throw method === 'chosen' ? new JsonRpcError(-32601, 'no such method', { method }) : new Error('secret');
      },
    });
    peer.receive('{"id":1,"method":"chosen"}');
    peer.receive('{"id":2,"method":"bug"}');
    await soon();
    expect(sent).toEqual([
      { id: 1, error: { code: -32601, message: 'no such method', data: { method: 'chosen' } } },
      { id: 2, error: { code: -32603, message: 'internal error' } },
    ]);
  });

  it('answers once when the id of an open request comes again', async () => {
    const { peer, sent } = bench();
    peer.receive('{"id":1,"method":"m","params":"first"}');
    peer.receive('{"id":1,"method":"m","params":"second"}');
    await soon();
    peer.receive('{"id":1,"method":"m","params":"third"}');
    await soon();
    expect(sent.map(({ result }) => result)).toEqual(['first', 'third']);
  });

  it('refuses a request that is too long, so that nobody waits for it', () => {
    const { peer, sent } = bench({ maxLineLength: 100 });
    peer.receive(`{"method":"ask","id":9,"params":"${'x'.repeat(200)}"}`);
    expect(sent).toEqual([{ id: 9, error: { code: -32600, message: 'the request is too long' } }]);
  });

  it('refuses more than a thousand open requests', () => {
    const { peer, sent } = bench({ onRequest: () => new Promise(() => {}) });
    for (let id = 0; id < 1002; id += 1) peer.receive(JSON.stringify({ id, method: 'm' }));
    expect(sent.map(({ id }) => id)).toEqual([1000, 1001]);
  });
});

describe('closing', () => {
  it('rejects what we asked, answers what we were asked, and answers what is asked later', async () => {
    const { peer, sent, notified } = bench({ onRequest: () => new Promise(() => {}) });
    const asked = peer.request('m', {});
    peer.receive('{"id":4,"method":"theirs"}');
    peer.close('over');
    peer.close('again');
    peer.receive('{"id":5,"method":"late"}');
    peer.receive('{"method":"late notification"}');
    peer.notify('unheard');
    await expect(asked).rejects.toThrow(new JsonRpcClosedError('over'));
    await expect(peer.request('m', {})).rejects.toThrow(new JsonRpcClosedError('over'));
    expect(await peer.closed).toBe('over');
    expect(notified).toEqual([]);
    expect(sent.slice(1)).toEqual([
      { id: 4, error: { code: -32000, message: 'over' } },
      { id: 5, error: { code: -32000, message: 'over' } },
    ]);
  });

  it('does not answer a second time when the handler ends after the close', async () => {
    let finish = (_value: string): void => {};
    const { peer, sent } = bench({ onRequest: () => new Promise<string>((resolve) => (finish = resolve)) });
    peer.receive('{"id":1,"method":"m"}');
    peer.close('over');
    finish('late');
    await soon();
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['answers false', () => Promise.resolve(false)],
    ['rejects', () => Promise.reject(new Error('EPIPE'))],
    [
      'throws',
      () => {
        throw new Error('EPIPE');
      },
    ],
  ])('closes when the way out %s', async (_name, send) => {
    const { peer } = bench({ send });
    await expect(peer.request('m', {})).rejects.toThrow('the other side closed its input');
    expect(await peer.closed).toBe('the other side closed its input');
  });

  it('closes when more waits for the other side than the bound allows', async () => {
    const { peer } = bench({ send: () => new Promise(() => {}), maxPendingLength: 1000 });
    const asked = peer.request('m', 'x'.repeat(500));
    peer.notify('n', 'x'.repeat(600));
    await expect(asked).rejects.toThrow('the other side does not read its input');
  });
});

describe('lines of any kind', () => {
  it('are never thrown about, and never answer a request that they do not name', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.json().map((text) => text.slice(0, -1)),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { peer, sent } = bench();
        for (const text of lines) peer.receive(text);
        expect(sent).toEqual([]);
      }),
    );
  });

  it('leave exactly one answer to each request, however they are mixed', async () => {
    const noise = fc.constantFrom('', '{', 'log line', '[]', '{"id":null}', '{"method":"n"}', '{"id":99,"result":1}');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(noise)), fc.nat(20), async (mixed, closeAt) => {
        const { peer, sent } = bench();
        const ids: number[] = [];
        for (const [index, text] of mixed.entries()) {
          if (index === closeAt) peer.close('over');
          if (text === null) ids.push(index);
          peer.receive(text ?? JSON.stringify({ id: index, method: 'm' }));
        }
        await soon();
        expect(sent.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      }),
    );
  });
});

describe('with a real process', () => {
  const running: RunningProcess[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.kill()));
  });

  async function connect(script: string, options: Partial<JsonRpcPeerOptions> = {}): Promise<JsonRpcPeer> {
    const env = { PATH: process.env['PATH'] ?? '' };
    const child = await startProcess({ command: process.execPath, args: ['-e', script], cwd: tmpdir(), env, stdin: 'pipe' });
    running.push(child);
    const { peer } = bench({ send: (line) => child.stdin.write(`${line}\n`), ...options });
    void (async () => {
      for await (const line of child.lines()) peer.receive(line);
      peer.close('the process ended');
    })();
    return peer;
  }

  it('asks and is asked at once', async () => {
    const script = `
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, result } = JSON.parse(line);
        if (method) console.log(JSON.stringify({ id: 'back', method: 'question' }));
        else console.log(JSON.stringify({ id: 1, result: { heard: result } }));
      });`;
    const peer = await connect(script, { onRequest: (method) => `answer to ${method}` });
    expect(await peer.request('m', {}, { timeoutMs: 10_000 })).toEqual({ heard: 'answer to question' });
  });

  it('closes with a process that exits without reading', async () => {
    const peer = await connect('process.exit(0)');
    await expect(peer.request('m', 'x'.repeat(1_000_000), { timeoutMs: 10_000 })).rejects.toBeInstanceOf(JsonRpcClosedError);
  });

  it('is bounded for a process that never reads', async () => {
    const peer = await connect('setInterval(() => {}, 1000)', { maxPendingLength: 2_000_000 });
    for (let n = 0; n < 100; n += 1) peer.notify('flood', 'x'.repeat(100_000));
    expect(await peer.closed).toBe('the other side does not read its input');
  });
});
