import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Notice } from '../../domain/model/notice.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { HostView } from '../../ports/runner.ts';
import { FAMILIES, type Family } from './families.ts';
import { HOST_MEASURES, MEASURES, type HostMeasure, type Measure } from './measures.ts';
import type { MetricSample } from './samples.ts';

export interface Metrics {
  readonly contentType: string;
  /** The text exposition, with gauges as of now. */
  render(): Promise<string>;
  /** Stops listening. */
  stop(): void;
}

/** Everything counted is counted from notices; everything measured is read from the snapshot when somebody asks. */
export function createMetrics(
  notices: Pick<NoticeBus, 'listen'>,
  snapshot: () => Snapshot | null,
  hosts: () => readonly HostView[] = () => [],
): Metrics {
  const registry = new Registry();
  // One snapshot serves all gauges of a scrape.
  let current: Snapshot | null = null;
  const render = (): Promise<string> => {
    current = snapshot();
    return registry.metrics();
  };
  addBuildInfo(registry);
  for (const measure of MEASURES) addGauge(registry, measure, () => current);
  for (const measure of HOST_MEASURES) addHostGauge(registry, measure, hosts);
  const countFor = FAMILIES.map((family) => recorder(registry, family));
  const stop = notices.listen((notice) => {
    for (const count of countFor) count(notice);
  });
  return { contentType: registry.contentType, render, stop };
}

function addBuildInfo(registry: Registry): void {
  const info = { version: FORAY_VERSION, node_version: process.version };
  const gauge = new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; what runs is in the labels.',
    labelNames: Object.keys(info),
    registers: [registry],
  });
  gauge.set(info, 1);
}

/** What is no longer there, such as a target that was taken out of the file, goes with the next scrape. */
function addGauge(registry: Registry, { name, help, labels = [], read }: Measure, current: () => Snapshot | null): void {
  new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      const snapshot = current();
      if (snapshot === null) return;
      this.reset();
      for (const sample of read(snapshot)) this.set(sample.labels, sample.value);
    },
  });
}

/** A host that is no longer named goes with the next scrape. */
function addHostGauge(registry: Registry, { name, help, read }: HostMeasure, hosts: () => readonly HostView[]): void {
  new Gauge({
    name,
    help,
    labelNames: ['host'],
    registers: [registry],
    collect() {
      this.reset();
      for (const host of hosts()) {
        const value = read(host);
        if (value !== null) this.set({ host: host.name }, value);
      }
    },
  });
}

/** Adds one family to the registry and returns what feeds it. */
function recorder(registry: Registry, family: Family): (notice: Notice) => void {
  const record = family.buckets === undefined ? counter(registry, family) : histogram(registry, family);
  return (notice) => {
    // Name and facts belong together in the union, but the compiler cannot follow that through the table.
    const samplesOf = family.on[notice.name] as ((facts: Notice['facts']) => readonly MetricSample[]) | undefined;
    samplesOf?.(notice.facts).forEach(record);
  };
}

/** Known label values show from the start, as 0: a rate needs a first value to grow from. */
function counter(registry: Registry, { name, help, labels }: Family): (sample: MetricSample) => void {
  const metric = new Counter({ name, help, labelNames: Object.keys(labels), registers: [registry] });
  for (const combination of combinations(labels)) metric.inc(combination, 0);
  return ({ labels: of, value }) => metric.inc(of, value);
}

function histogram(registry: Registry, { name, help, labels, buckets }: Family): (sample: MetricSample) => void {
  const metric = new Histogram({
    name,
    help,
    labelNames: Object.keys(labels),
    buckets: [...(buckets ?? [])],
    registers: [registry],
  });
  for (const combination of combinations(labels)) metric.zero(combination);
  return ({ labels: of, value }) => metric.observe(of, value);
}

function combinations(labels: Family['labels']): readonly Record<string, string>[] {
  let found: readonly Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    found = found.flatMap((known) => values.map((value) => ({ ...known, [label]: value })));
  }
  return found;
}
