import type { Problem } from '../domain/model/problem.ts';

/** A workflow file taken apart. Lines count from 1 in the file. */
export interface WorkflowParts {
  readonly yaml: string;
  readonly yamlLine: number;
  readonly body: string;
  readonly bodyLine: number;
}

/** Splits a workflow file at its two `---` lines, or says which one is missing. */
export function splitFrontMatter(text: string): WorkflowParts | Problem {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split('\n');
  if (!isFence(lines[0])) return fault('the file must begin with a `---` line that opens the front matter (line 1, column 1)');
  const close = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (close < 0) return fault('the closing `---` line of the front matter is missing (it opens on line 1, column 1)');
  return { yaml: lines.slice(1, close).join('\n'), yamlLine: 2, ...bodyOf(lines, close + 1) };
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}

// Blank lines around the body would only be noise in a prompt; the line number moves along so that places stay true.
function bodyOf(lines: readonly string[], start: number): Pick<WorkflowParts, 'body' | 'bodyLine'> {
  const first = lines.findIndex((line, index) => index >= start && line.trim() !== '');
  if (first < 0) return { body: '', bodyLine: start + 1 };
  return { body: lines.slice(first).join('\n').trimEnd(), bodyLine: first + 1 };
}

/** Both are told of at the head of the file. */
function fault(message: string): Problem {
  return { severity: 'error', check: 'workflow.front_matter', message, position: { line: 1, column: 1 } };
}
