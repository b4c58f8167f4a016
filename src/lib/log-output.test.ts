import { closeSync, openSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';
import { lineFile, lineStream } from './log-output.ts';

/** A log over an output that takes lines only while `room` is true. */
function logOver(output: { room: boolean; lines: string[] }) {
  const write = (line: string): boolean => {
    if (output.room) output.lines.push(line);
    return output.room;
  };
  return createLog({ level: 'info', format: 'text', write, now: () => 0, mask: (text) => text });
}

describe('records that could not be written', () => {
  it('are counted and told of once there is room again', () => {
    const output = { room: false, lines: [] as string[] };
    const log = logOver(output);
    log.info('one');
    log.info('two');
    output.room = true;
    log.info('three');
    log.info('four');
    const messages = output.lines.map((line) => /msg="?([^"=]+?)"? (?:count|time)=/.exec(line)?.[1]);
    expect(messages).toEqual(['three', 'log records were lost: who reads them did not take them', 'four']);
    expect(output.lines[1]).toContain('count=2');
  });
});

describe('a stream of lines', () => {
  it('is given up, without a throw, when its reader is gone', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const write = lineStream(stream);
    write('one\n');
    await new Promise(setImmediate);
    expect(write('two\n')).toBe(false);
  });

  it('loses nothing that its reader takes, however much is told in one go', () => {
    let bytes = 0;
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done();
      },
    });
    const write = lineStream(stream);
    const line = `${'x'.repeat(99_999)}\n`;
    const taken = Array.from({ length: 100 }, () => write(line)).filter(Boolean).length;
    expect([taken, bytes]).toEqual([100, 10_000_000]);
  });

  it('holds a bounded amount for a reader that does not read', () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    const write = lineStream(stream);
    const line = 'x'.repeat(100_000);
    const taken = Array.from({ length: 100 }, () => write(line)).filter(Boolean).length;
    expect(taken).toBeLessThan(50);
    expect(taken).toBeGreaterThan(10);
  });
});

describe.runIf(process.platform === 'linux')('a file of lines', () => {
  it('says that a full disk took nothing', () => {
    const fd = openSync('/dev/full', 'w');
    expect(lineFile(fd)('one\n')).toBe(false);
    closeSync(fd);
  });
});
