import { expect, it } from 'vitest';
import { createFakeDaemon } from '../../test/support/fake-daemon.ts';
import type { Notice } from '../domain/model/notice.ts';
import { keepNotices, MOST_KEPT } from './kept-notices.ts';

it('keeps the latest for one who comes late, and no more than it may', () => {
  const { notices } = createFakeDaemon();
  const kept = keepNotices(notices);
  const told = Array.from({ length: MOST_KEPT + 3 }, (_, intervalMs): Notice => ({
    name: 'poll:pace:slowed',
    facts: { intervalMs },
  }));
  for (const notice of told.slice(0, -1)) notices.announce(notice);
  const heard: Notice[] = [];
  kept.listen((notice) => void heard.push(notice));
  for (const notice of told.slice(-1)) notices.announce(notice);
  expect(heard).toEqual(told.slice(2));
  kept.stop();
});
