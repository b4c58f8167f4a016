/** The known word that was probably meant, or null when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { word: string; distance: number } | null = null;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(fold(word), fold(candidate));
    if (distance <= limit && (!best || distance < best.distance)) best = { word: candidate, distance };
  }
  return best?.word ?? known.find((candidate) => word.length >= MIN_BEGINNING && fold(candidate).startsWith(fold(word))) ?? null;
}

/** A shorter beginning of a word would say too little. */
const MIN_BEGINNING = 4;

// Case and the kind of dash are the commonest slips and must not use up the distance.
function fold(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}

/** How many letters must be put in, taken out, changed or swapped with a neighbour. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(change, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
