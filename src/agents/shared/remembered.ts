import { createHash } from 'node:crypto';
import { copyOf, shortText } from '../../lib/short-text.ts';

/* What is kept of what agents say is bounded in number elsewhere. Here it is bounded in size: ids and names are theirs to choose. */

const LONGEST_ID = 200;
/** More than is shown: a secret that is cut in two there is still known as one. */
const LONGEST_NAME = 500;
const MOST_MODELS = 50;

/** What an id is remembered by: itself, or something short that is as good as unique. */
export function keyOf(id: string): string {
  return id.length <= LONGEST_ID ? id : createHash('sha256').update(id).digest('base64');
}

/** As much of a name as is kept. */
export function keptName(name: string): string {
  return name.length <= LONGEST_NAME ? name : copyOf(shortText(name, LONGEST_NAME));
}

/** How many requests went to each model. */
export interface ModelRequests {
  count(model: string): void;
  byModel(): Readonly<Record<string, number>>;
}

export function createModelRequests(): ModelRequests {
  const counts = new Map<string, number>();
  return {
    count(model) {
      const name = keptName(model);
      if (name !== '' && (counts.has(name) || counts.size < MOST_MODELS)) counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    byModel: () => Object.fromEntries(counts),
  };
}
