import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEndpoint, withSuffix } from './endpoint.ts';

describe('endpoint', () => {
  it.each([
    ['https://forge.example', 'https://forge.example', true],
    ['https://forge.example///', 'https://forge.example', true],
    ['http://127.0.0.1:3000/base/', 'http://127.0.0.1:3000/base', false],
    ['HTTPS://Forge.Example/x', 'HTTPS://Forge.Example/x', true],
    ['http://[::1]:3000', 'http://[::1]:3000', false],
    ['https://forge.example/@team', 'https://forge.example/@team', true],
  ])('%s is good', (value, url, secure) => {
    expect(parseEndpoint(value)).toEqual({ url, shown: url, secure });
  });

  it('keeps user and password for requests and hides them for people', () => {
    expect(parseEndpoint('https://me:pw@host/x/')).toEqual({
      url: 'https://me:pw@host/x',
      shown: 'https://host/x',
      secure: true,
    });
  });

  it.each([
    ['', 'is not an absolute http or https URL'],
    ['forge.example', 'is not an absolute http or https URL'],
    ['/api', 'is not an absolute http or https URL'],
    ['https:forge.example', 'is not an absolute http or https URL'],
    ['https:/forge.example', 'is not an absolute http or https URL'],
    ['ftp://forge.example', 'is not an absolute http or https URL'],
    ['https://', 'has no host'],
    ['https:///forge.example', 'has no host'],
    ['https://me:pw@/x', 'has no host'],
    ['https://:8080', 'has a port but no host'],
    ['https://me@:8080/x', 'has a port but no host'],
    ['http://::1', 'has a bare IPv6 host'],
    ['http://fe80::1:3000/x', 'has a bare IPv6 host'],
    ['https://host?x=1', 'has a query'],
    ['https://host/?', 'has a query'],
    ['https://host/#x', 'has a fragment'],
    ['https://host:99999', 'is not a valid URL'],
    ['https://ho st', 'holds white space'],
    [' https://host', 'holds white space'],
    ['https://host\\x', 'holds white space, a control character or a backslash'],
    ['http://[::1', 'is not a valid URL'],
  ])('%j is bad: %s', (value, fault) => {
    expect(parseEndpoint(value)).toEqual({ fault: expect.stringContaining(fault) as string });
  });

  it.each([
    'https://me:hush@:80',
    'https://me:hush@host?x',
    'https://me:12/hush@host',
    'https://me:hush#@host:99999',
    'me:hush@host',
    'ftp://me:hush@host',
    'https://me:hu?hush@host',
    'https://me:hush @host',
  ])('says what is wrong with %s without its password', (value) => {
    const parsed = parseEndpoint(value);
    expect('fault' in parsed && parsed.fault).not.toContain('hush');
  });

  it('never throws, and what is good is an address `new URL` takes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}`),
        ),
        (value) => {
          const parsed = parseEndpoint(value);
          if ('url' in parsed) expect(URL.canParse(parsed.url)).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['https://h', 'https://h/api/v4'],
    ['https://h/sub', 'https://h/sub/api/v4'],
    ['https://h/api/v4', 'https://h/api/v4'],
    ['https://h/my-api/v4', 'https://h/my-api/v4/api/v4'],
  ])('suffix on %s gives %s', (url, expected) => {
    expect(withSuffix(url, '/api/v4')).toBe(expected);
  });
});
