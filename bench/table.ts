/** One line of the table. A floor is the same work done bare in the same run, so that the ratio holds on any machine. */
export interface Row {
  readonly row: string;
  readonly value: number;
  readonly unit: string;
  readonly floor: number | null;
  readonly ratio: number | null;
  /** In words, such as `<= 1.25 x`; empty where a figure is only told. */
  readonly goal: string;
  readonly ok: boolean;
}

/** At most so many times the floor. */
export function timesFloor(row: string, unit: string, value: number, floor: number, most: number): Row {
  const ratio = value / floor;
  return { row, value, unit, floor, ratio, goal: `<= ${most} x`, ok: ratio <= most };
}

/** At most this much. */
export function atMost(row: string, unit: string, value: number, most: number): Row {
  return { row, value, unit, floor: null, ratio: null, goal: `<= ${most} ${unit}`.trim(), ok: value <= most };
}

/** Figures for several sizes that must lie within a factor of each other; the ratio is the largest to the smallest. */
export function alike(row: string, unit: string, values: ReadonlyMap<number, number>, most: number): Row[] {
  const smallest = Math.min(...values.values());
  return [...values].map(([size, value]) => {
    const ratio = value / smallest;
    return { row: `${row}, ${count(size)}`, value, unit, floor: smallest, ratio, goal: `within ${most} x`, ok: ratio <= most };
  });
}

/** None of it. */
export function none(row: string, value: number): Row {
  return { row, value, unit: '', floor: null, ratio: null, goal: '0', ok: value === 0 };
}

/** Told, without a goal of its own. */
export function told(row: string, unit: string, value: number): Row {
  return { row, value, unit, floor: null, ratio: null, goal: '', ok: true };
}

/** Told beside a floor, without a goal of its own. */
export function toldBeside(row: string, unit: string, value: number, floor: number): Row {
  return { ...told(row, unit, value), floor, ratio: value / floor };
}

export function count(size: number): string {
  return size.toLocaleString('en');
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function heading(): string {
  return line('row', 'measured', 'floor', 'ratio', 'goal', '');
}

export function formatRow({ row, value, unit, floor, ratio, goal, ok }: Row): string {
  const shown = (figure: number | null) => (figure === null ? '' : `${short(figure)} ${unit}`.trim());
  return line(row, shown(value), shown(floor), ratio === null ? '' : `${ratio.toFixed(2)} x`, goal, ok ? '' : 'MISSED');
}

function line(row: string, value: string, floor: string, ratio: string, goal: string, note: string): string {
  return [row.padEnd(72), value.padStart(14), floor.padStart(14), ratio.padStart(8), goal.padStart(16), note].join(' ').trimEnd();
}

function short(figure: number): string {
  return Number.isInteger(figure) ? String(figure) : figure.toFixed(figure < 10 ? 2 : figure < 100 ? 1 : 0);
}
