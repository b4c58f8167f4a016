import type { HostView } from '../../ports/runner.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { chip, clock, panel, table, type Column } from './parts.ts';

/** The hosts that runs are given to; nothing where all run on this machine. */
export function hostsPanel(hosts: readonly HostView[], now: number): TemplatePart {
  if (hosts.length === 0) return null;
  const columns: readonly Column<HostView>[] = [
    { label: 'Host', cell: (host) => html`<b><bdi>${host.name}</bdi></b>` },
    {
      label: 'Works',
      style: 'short',
      onPhone: true,
      cell: (host) => (host.problem === null ? chip('live', 'up') : chip('bad', 'down')),
    },
    {
      label: 'Runs',
      style: 'figure',
      onPhone: true,
      cell: ({ running, slots }) => (slots === null ? running : `${running} of ${slots}`),
    },
    { label: 'Load', style: 'figure', cell: ({ load }) => (load === null ? '-' : load.toFixed(2)) },
    { label: 'Version', style: 'short', onTablet: false, cell: ({ version }) => version ?? '-' },
    { label: 'Heard', style: 'figure', cell: ({ heardAt }) => (heardAt === null ? 'never' : clock('ago', heardAt, now)) },
    { label: 'Labels and problems', cell: ({ labels, problem }) => note(labels, problem) },
  ];
  return panel(
    { id: 'hosts', title: 'Hosts', count: hosts.length, wide: true },
    table({ columns, rows: hosts, key: ({ name }) => `host-${name}`, empty: '' }),
  );
}

function note(labels: readonly string[], problem: string | null): Html {
  return html`<bdi>${labels.join(', ')}</bdi> ${problem !== null && html`<span class="sub"><bdi>${problem}</bdi></span>`}`;
}
