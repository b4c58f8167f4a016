/** Nodes that end a line when a document is read as plain text. */
export const BLOCK_NODES: ReadonlySet<string> = new Set([
  'paragraph',
  'heading',
  'bulletList',
  'orderedList',
  'listItem',
  'blockquote',
  'codeBlock',
  'rule',
  'table',
  'tableRow',
  'tableCell',
  'tableHeader',
  'panel',
  'decisionList',
  'decisionItem',
  'taskList',
  'taskItem',
  'mediaSingle',
  'mediaGroup',
]);

/**
 * The plain text of a document tree, which is that of its text nodes; empty for anything that is none. Walks with a list of its own instead of recursion:
 * a tree that is nested too deep must not end the process.
 */
export function flatten(document: unknown): string {
  let text = '';
  const pending: unknown[] = [document];
  while (pending.length > 0) {
    const next = pending.pop();
    if (next === LINE_END) text += '\n';
    if (!isNode(next)) continue;
    const { type, text: value, content } = next;
    if (type === 'text' && typeof value === 'string') text += value;
    if (typeof type === 'string' && BLOCK_NODES.has(type)) pending.push(LINE_END);
    if (Array.isArray(content)) for (const child of (content as unknown[]).toReversed()) pending.push(child);
  }
  return text.trimEnd();
}

const LINE_END = Symbol('line end');

function isNode(value: unknown): value is { type?: unknown; text?: unknown; content?: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface DocumentNode {
  readonly type: string;
  readonly version?: 1;
  readonly text?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly content?: readonly DocumentNode[];
}

/** Plain text as a document: one paragraph per line, fenced text as code blocks. */
export function toDocument(text: string): DocumentNode {
  const lines = text.split(/\r\n|\r|\n/);
  const content: DocumentNode[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const fence = openingFence(lines[index] ?? '');
    if (!fence) {
      content.push({ type: 'paragraph', content: textNodes(lines[index] ?? '') });
      continue;
    }
    const end = closingLine(lines, index + 1, fence.ticks);
    content.push(codeBlock(lines.slice(index + 1, end), fence.language));
    index = end;
  }
  return { type: 'doc', version: 1, content };
}

/** Three backticks or more, then perhaps a language. */
function openingFence(line: string): { ticks: number; language: string } | undefined {
  const [, fence, language] = /^ {0,3}(`{3,})([^`]*)$/.exec(line) ?? [];
  return fence === undefined ? undefined : { ticks: fence.length, language: language?.trim() ?? '' };
}

// At least as long as the opening one, so that a shorter fence inside is text. One that never closes runs to the end.
function closingLine(lines: readonly string[], from: number, ticks: number): number {
  const end = lines.findIndex((line, index) => index >= from && (/^ {0,3}(`{3,})\s*$/.exec(line)?.[1]?.length ?? 0) >= ticks);
  return end === -1 ? lines.length : end;
}

function codeBlock(lines: readonly string[], language: string): DocumentNode {
  return { type: 'codeBlock', ...(language === '' ? {} : { attrs: { language } }), content: textNodes(lines.join('\n')) };
}

// A text node may not be empty.
function textNodes(text: string): readonly DocumentNode[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
