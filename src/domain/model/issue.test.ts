import { describe, expect, it } from 'vitest';
import { normalName, sameState, stateIn } from './issue.ts';

const composed = 'Pr\u00fcfung';
const decomposed = 'Pru\u0308fung';

describe('names of states and labels', () => {
  it('are the same in both spellings of Unicode, in any case and with blanks around', () => {
    expect(composed).not.toBe(decomposed);
    expect(sameState(composed, ` ${decomposed.toUpperCase()} `)).toBe(true);
    expect(stateIn(['todo', decomposed], composed)).toBe(true);
    expect(normalName(decomposed)).toBe('pr\u00fcfung');
  });

  it('differ by their letters', () => {
    expect(sameState(composed, 'Prufung')).toBe(false);
    expect(stateIn([''], ' ')).toBe(false);
  });
});
