import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Rows of a list are alike: where the whole page was looked at before, the first of each are enough. */
const MORE_ROWS = 'tbody tr:nth-child(n+4)';

/** What axe finds wrong with the page, one line each. */
export async function accessibilityFaults(page: Page, parts: 'whole' | 'first rows' = 'whole'): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const context = parts === 'whole' ? {} : { exclude: [[MORE_ROWS]] };
  return page.evaluate<readonly string[]>(
    `axe.run(${JSON.stringify({ include: [['html']], ...context })}, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ': ' + failureSummary)))`,
  );
}
