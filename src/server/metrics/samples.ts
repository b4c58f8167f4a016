/** A value of a metric, under its labels. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Something happened once. */
export function one(labels: MetricSample['labels']): readonly MetricSample[] {
  return [{ labels, value: 1 }];
}

/** So much of it. */
export function oneSample(value: number, labels: MetricSample['labels'] = {}): readonly MetricSample[] {
  return [{ labels, value }];
}

/** Never negative: a clock that was set back must not break a counter. */
export function seconds(ms: number): number {
  return Math.max(0, ms) / 1000;
}
