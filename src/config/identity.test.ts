import { describe, expect, it } from 'vitest';
import { identityOf } from './identity.ts';

describe('the identity of a tracker', () => {
  it.each([
    ['https://gitlab.com/', 'acme/app'],
    ['https://gitlab.com/api/v4', 'acme/app'],
    ['https://gitlab.com/api/v4/', 'Acme/App'],
    ['https://GitLab.com:443', ' acme/app '],
    ['https://user:secret@gitlab.com', 'acme/app'],
  ])('is the same for %s and %s', (endpoint, project) => {
    expect(identityOf('nsproject', endpoint, project)).toBe('nsproject https://gitlab.com acme/app');
  });

  it('tells hosts, folders of a host, kinds and projects apart', () => {
    const all = [
      identityOf('nsproject', 'https://gitlab.com', 'acme/app'),
      identityOf('nsproject', 'https://gitlab.com:8443', 'acme/app'),
      identityOf('nsproject', 'https://gitlab.com/team', 'acme/app'),
      identityOf('nsproject', 'https://gitlab.com', 'acme/other'),
      identityOf('selfhosted', 'https://gitlab.com', 'acme/app'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
