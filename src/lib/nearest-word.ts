import { editDistance } from './edit-distance.ts';

/** The known word that was probably meant, or null when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { word: string; distance: number } | null = null;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(fold(word), fold(candidate));
    if (distance <= limit && (!best || distance < best.distance)) best = { word: candidate, distance };
  }
  if (best !== null || word.length < MIN_BEGINNING) return best?.word ?? null;
  const isBegun = (candidate: string): boolean => fold(candidate).startsWith(fold(word));
  return known.find(isBegun) ?? known.find((candidate) => isMisspeltPart(word, candidate)) ?? null;
}

/** The same to stand at the end of a message: nothing where none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  return near === null ? '' : `; did you mean "${near}"?`;
}

/** The first part of a name of several, such as `cluade` of `claude-code`. */
function isMisspeltPart(word: string, candidate: string): boolean {
  const [part = ''] = fold(candidate).split('_');
  const limit = Math.floor(word.length / 3);
  return part.length >= MIN_BEGINNING && Math.abs(part.length - word.length) <= limit && editDistance(fold(word), part) <= limit;
}

/** A shorter beginning of a word would say too little. */
const MIN_BEGINNING = 4;

// Case and the kind of dash are the commonest slips and must not use up the distance.
function fold(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}
