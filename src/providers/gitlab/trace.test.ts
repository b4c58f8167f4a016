import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logTail } from '../shared/log-excerpt.ts';
import { plainTrace } from './ci.ts';

const read = (text: string) => logTail(plainTrace(text), 1000).split('\n');

describe('a job log', () => {
  it('without times loses its section markers and keeps their headings', () => {
    const text = [
      '\u001b[0KRunning with gitlab-runner 17.0.0\u001b[0;m',
      'section_start:1716381827:prepare_executor\r\u001b[0K\u001b[0K\u001b[36;1mPreparing the "docker" executor\u001b[0;m',
      'section_end:1716381828:prepare_executor\r\u001b[0Ksection_start:1716381829:step_script[collapsed=true]\r\u001b[0K\u001b[36;1mExecuting\u001b[0;m',
      '\u001b[32;1m$ npm test\u001b[0;m',
      '10%\r50%\r100%',
      'Error: 1 test failed\r',
      '',
      'section_end:1716381830:step_script\r\u001b[0K',
      'section_end:1716381831:x\r',
      '\u001b[31;1mERROR: Job failed: exit code 1\u001b[0;m',
    ].join('\n');
    expect(read(text)).toEqual([
      'Running with gitlab-runner 17.0.0',
      'Preparing the "docker" executor',
      'Executing',
      '$ npm test',
      '100%',
      'Error: 1 test failed',
      'ERROR: Job failed: exit code 1',
    ]);
  });

  it('with times loses them too, and lines that go on are one', () => {
    const text = [
      '2026-01-21T09:47:05.094219Z 00O \u001b[0KRunning\u001b[0;m',
      '2026-01-21T09:47:05.094269Z 00O section_start:1768988825:prepare_executor\r',
      '2026-01-21T09:47:05.094270Z 00O+\u001b[0K\u001b[36;1mPreparing\u001b[0;m',
      '2026-01-21T09:47:05.094271Z 00O section_end:1768988826:prepare_executor\r',
      '2026-01-21T09:47:05.094272Z 00O+section_start:1768988826:step_script\r',
      '2026-01-21T09:47:05.094273Z 00O+\u001b[0KExecuting',
      '2026-01-21T09:47:06.000000Z 01O one half',
      '2026-01-21T09:47:06.000001Z 01E an error between',
      '2026-01-21T09:47:06.000002Z 01O+, other half',
      '2026-01-21T09:47:06.000003Z 01O 10%\r',
      '2026-01-21T09:47:06.000004Z 01O+100%',
      '2026-01-21T09:47:06.000005Z 01O ',
      '2026-01-21T09:47:06.000006Z 01O',
    ].join('\n');
    expect(read(text)).toEqual(['Running', 'Preparing', 'Executing', 'one half, other half', 'an error between', '100%']);
  });

  it('keeps times that the job itself wrote', () => {
    expect(read('2026-01-21T09:47:05Z started\nsection_start is a word')).toEqual([
      '2026-01-21T09:47:05Z started',
      'section_start is a word',
    ]);
  });

  it('a continuation without a beginning stands for itself', () => {
    expect(read('2026-01-21T09:47:05.1Z 00O+tail of something')).toEqual(['tail of something']);
  });

  it('whatever it holds, the tail has no more lines than asked for and no control characters', () => {
    const piece = fc.constantFrom(
      'section_start:1:a\r\u001b[0K',
      '2026-01-21T09:47:05.1Z 00O+',
      '\n',
      '\r',
      '\u001b[31m',
      '\u0000',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), fc.integer({ min: 1, max: 5 }), (pieces, lines) => {
        const tail = logTail(plainTrace(pieces.join('')), lines);
        expect(tail.split('\n').length).toBeLessThanOrEqual(lines);
        // oxlint-disable-next-line no-control-regex -- that there are none is what is looked for
        expect(tail).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
      }),
    );
  });
});
