import { expect, it } from 'vitest';
import { maskFor } from './run-environment.ts';

it.each(['OPENAI_API_KEY', 'GH_TOKEN', 'CLIENT_SECRET', 'DB_PASSWORD', 'AWS_CREDENTIALS', 'some_credential'])(
  'what %s holds is masked, as it is and encoded',
  (name) => {
    const value = 'as-7f3c91d2e8';
    const mask = maskFor({ [name]: value, HOME: '/home/agent' });
    const text = `HOME=/home/agent ${name}=${value} ${Buffer.from(value).toString('base64')}`;
    expect(mask(text)).toBe(`HOME=/home/agent ${name}=[redacted] [redacted]`);
  },
);

it('a word that is too short to be a secret, and what is no credential by its name, are shown', () => {
  const mask = maskFor({ SORT_KEY: 'name', KEYBOARD: 'qwerty-keyboard' });
  expect(mask('by name on a qwerty-keyboard')).toBe('by name on a qwerty-keyboard');
});
