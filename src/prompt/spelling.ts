import { editDistance } from '../lib/edit-distance.ts';

const LONGEST_SHOWN = 40;

/** Text of the template as it may stand in a message: quoted, on one line, shortened. */
export function quotedText(text: string): string {
  const characters = Array.from(text.slice(0, LONGEST_SHOWN * 2));
  const short = characters.length > LONGEST_SHOWN ? `${characters.slice(0, LONGEST_SHOWN).join('')}…` : text;
  return JSON.stringify(short);
}

/** A name of the template shortened for a message. Names hold letters, digits and underscores only, so no quoting. */
export function shortName(name: string): string {
  return name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name;
}

/** Says what was probably meant, or else what there is; empty when there is nothing to name. */
export function fieldHint(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `; did you mean .${near}?`;
  return known.length > 0 ? `; it has ${known.join(', ')}` : '';
}

/** The known name closest to a misspelt one, when close enough to be what was meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const tolerance = Math.max(1, Math.min(3, Math.floor(name.length / 3)));
  let best: string | undefined;
  let bestDistance = tolerance + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > tolerance) continue;
    const distance = editDistance(normal(name), normal(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `issueType`, `Issue_Type` and `issue_type` are one name to a reader. */
function normal(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}
