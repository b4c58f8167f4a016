import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Rows of a list are alike: of long ones, and where the whole page was looked at before, the first are enough. The others go. */
const MORE_ROWS = 'tbody tr:nth-child(n+4)';
/** What other colours alone can break. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

export interface Scope {
  readonly rows?: 'all' | 'first';
  readonly rules?: 'all' | 'colours';
}

/** What axe finds wrong with the page, one line each. */
export async function accessibilityFaults(page: Page, { rows = 'all', rules = 'all' }: Scope = {}): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  if (rows === 'first') await page.evaluate(`document.querySelectorAll('${MORE_ROWS}').forEach((row) => row.remove())`);
  const options = { resultTypes: ['violations'], ...(rules === 'colours' && { runOnly: COLOUR_RULES }) };
  return page.evaluate<readonly string[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ': ' + failureSummary)))`,
  );
}
