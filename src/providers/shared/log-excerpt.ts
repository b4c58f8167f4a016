const MAX_LINE = 4096;

/** The end of a log as people read it: escape codes, control characters and blank lines gone, at most so many lines. */
export function logTail(text: string, maxLines: number): string {
  if (maxLines <= 0) return '';
  return cleanLines(text).slice(-maxLines).join('\n');
}

/** One clean line each; a line that was redrawn (a progress bar) keeps what was last shown. */
export function cleanLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => clean(line))
    .filter((line) => line.trim() !== '');
}

function clean(line: string): string {
  const shown = line.split('\r').findLast((part) => part !== '') ?? '';
  return shown.replaceAll(ESCAPES, '').replaceAll(CONTROLS, '').slice(0, MAX_LINE);
}

// oxlint-disable-next-line no-control-regex -- terminal escape sequences are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex -- likewise
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\ufeff]/g;
