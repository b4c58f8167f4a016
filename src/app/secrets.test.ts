import { describe, expect, it } from 'vitest';
import { createKnownSecrets } from './secrets.ts';

function maskDeep(value: unknown, ...secrets: readonly string[]): unknown {
  const known = createKnownSecrets();
  known.add(secrets);
  return known.maskDeep(value);
}

describe('secrets in data', () => {
  it('are masked in texts and keys, however deep', () => {
    const data = { runs: [{ requestsByModel: { 'tok-123456': 2, opus: 1 }, text: 'a tok-123456' }, 'tok-123456', 3] };
    const masked = { runs: [{ requestsByModel: { '[redacted]': 2, opus: 1 }, text: 'a [redacted]' }, '[redacted]', 3] };
    expect(maskDeep(data, 'tok-123456')).toEqual(masked);
  });

  it('take no field away where one is an ordinary word', () => {
    expect(maskDeep({ type: 'a type', run_id: 1 }, 'type', 'run_')).toEqual({ type: 'a [redacted]', run_id: 1 });
  });

  it('that are not there leave the data as it is', () => {
    const data = { list: [{ 'a-1': 'text' }], map: new Map([['a', 1]]), nothing: null };
    expect(maskDeep(data, 'tok-123456')).toBe(data);
  });
});
