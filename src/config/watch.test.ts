import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readWorkflowText } from './file.ts';
import { watchWorkflow } from './watch.ts';

const NEVER_MS = 1_000_000;
let folder = '';
let file = '';
let stop = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-watch-'));
  file = path.join(folder, 'WORKFLOW.md');
  stop = new AbortController();
  await writeFile(file, 'one');
});

afterEach(async () => {
  stop.abort();
  await rm(folder, { recursive: true, force: true });
});

async function start(pollMs: number) {
  const onChange = vi.fn<() => void>();
  watchWorkflow(file, { onChange, pollMs, seen: (await readWorkflowText(file)).fingerprint }, stop.signal);
  const changed = (times: number) =>
    vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(times), { timeout: 15_000, interval: 10 });
  return { onChange, changed };
}

describe('watching by events', () => {
  it('sees a write in place, once', async () => {
    const { changed } = await start(NEVER_MS);
    await writeFile(file, 'two');
    await changed(1);
    await writeFile(file, 'three');
    await changed(2);
  });

  it('sees a file that replaces it, again and again', async () => {
    const { changed } = await start(NEVER_MS);
    for (const [index, text] of ['two', 'three', 'four'].entries()) {
      await writeFile(path.join(folder, 'new'), text);
      await rename(path.join(folder, 'new'), file);
      await changed(index + 1);
    }
  });

  it('sees an editor that moves the old file away first', async () => {
    const { changed } = await start(NEVER_MS);
    await rename(file, `${file}~`);
    await writeFile(file, 'two');
    await changed(1);
  });

  it('sees a swapped link, as mounted configuration does it', async () => {
    await mkdir(path.join(folder, 'v1'));
    await mkdir(path.join(folder, 'v2'));
    await writeFile(path.join(folder, 'v1', 'WORKFLOW.md'), 'one');
    await writeFile(path.join(folder, 'v2', 'WORKFLOW.md'), 'two');
    await symlink('v1', path.join(folder, 'data'));
    await rm(file);
    await symlink(path.join('data', 'WORKFLOW.md'), file);
    const { changed } = await start(NEVER_MS);
    await symlink('v2', path.join(folder, 'data.new'));
    await rename(path.join(folder, 'data.new'), path.join(folder, 'data'));
    await changed(1);
  });

  it('tells of a file that stays away, and of its return', async () => {
    const { changed } = await start(NEVER_MS);
    await rm(file);
    await changed(1);
    await writeFile(file, 'one');
    await changed(2);
  });

  it('says nothing when the content is the same, whatever else happens in the directory', async () => {
    const { onChange, changed } = await start(NEVER_MS);
    await writeFile(file, 'one');
    await writeFile(path.join(folder, '.foray.db'), 'x');
    await writeFile(file, 'two');
    await changed(1);
    expect(onChange).toHaveBeenCalledTimes(1);
  });
});

describe('watching without events', () => {
  it('finds an edit behind a link to elsewhere by looking', async () => {
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'foray-watch-'));
    try {
      await writeFile(path.join(elsewhere, 'real.md'), 'one');
      await rm(file);
      await symlink(path.join(elsewhere, 'real.md'), file);
      const { changed } = await start(20);
      await writeFile(path.join(elsewhere, 'real.md'), 'two');
      await changed(1);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  it('finds an edit made between loading and watching', async () => {
    const { fingerprint } = await readWorkflowText(file);
    await writeFile(file, 'two');
    await new Promise<void>((resolve) => {
      watchWorkflow(file, { onChange: resolve, pollMs: NEVER_MS, seen: fingerprint }, stop.signal);
    });
  });

  it('works in a directory that cannot be watched', async () => {
    file = path.join(folder, 'later', 'WORKFLOW.md');
    const { changed } = await start(20);
    await mkdir(path.dirname(file));
    await writeFile(file, 'one');
    await changed(1);
  });

  it('takes nothing that is half written, however often it looks', async () => {
    const really = globalThis.setTimeout;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    try {
      const { onChange } = await start(5);
      const pass = async (ms: number): Promise<void> => {
        await vi.advanceTimersByTimeAsync(ms);
        await new Promise((resolve) => void really(resolve, 5));
      };
      await writeFile(file, '');
      for (let look = 0; look < 8; look += 1) await pass(5);
      expect(onChange).not.toHaveBeenCalled();
      await writeFile(file, 'two');
      while (onChange.mock.calls.length === 0) await pass(5);
      for (let look = 0; look < 20; look += 1) await pass(5);
      expect(onChange).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends with its signal', async () => {
    const { onChange } = await start(5);
    stop.abort();
    await writeFile(file, 'two');
    const again = new AbortController();
    await new Promise<void>((resolve) => {
      watchWorkflow(file, { onChange: resolve, pollMs: 5, seen: 'old' }, again.signal);
    });
    again.abort();
    expect(onChange).not.toHaveBeenCalled();
  });
});
