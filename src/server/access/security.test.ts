import { describe, expect, it } from 'vitest';
import { hostCheck } from './security.ts';

describe('a host', () => {
  const isKnown = hostCheck(['foray.example.org']);

  it.each(['127.0.0.1', '127.0.0.1:4000', 'localhost', 'localhost:80', '[::1]', '[::1]:4000', 'foray.example.org:443'])(
    '%s is answered to',
    (host) => expect(isKnown(host)).toBe(true),
  );

  it.each([
    '',
    '127.0.0.1.',
    'localhost.',
    'localhost:',
    '127.1',
    '0x7f000001',
    '2130706433',
    '[::ffff:127.0.0.1]',
    '::1',
    '0.0.0.0',
    '127.0.0.1:4000.evil.org',
    '127.0.0.1@evil.org',
    'evil.org:127.0.0.1',
    '127.0.0.1:4000:80',
    'localhost, evil.org',
    'foray.example.org.',
    'a.foray.example.org',
    'localhost:123456',
    'localhost:65536',
  ])('"%s" is refused', (host) => expect(isKnown(host)).toBe(false));
});
