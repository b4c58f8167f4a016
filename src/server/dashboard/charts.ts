import { minuteText } from './format.ts';
import { html, type Html, type TemplatePart } from './html.ts';

const WIDTH = 420;
const HEIGHT = 154;
const LEFT = 48;
const BOTTOM = 24;
const TOP = 8;
/** Room for `12-31`, with some air. */
const LABEL_WIDTH = 44;

interface Frame {
  readonly id: string;
  readonly title: string;
  /** The same in words, for those who do not see it. */
  readonly text: string;
  readonly max: number;
  readonly label: (value: number) => string;
  readonly legend?: readonly (readonly [tone: string, name: string])[];
  /** Said where there is nothing to draw. */
  readonly empty?: string;
}

export interface Bar {
  readonly label: string;
  /** From the ground up. */
  readonly parts: readonly { readonly tone: string; readonly value: number }[];
}

/** Bars side by side, each of several parts. */
export function barChart(frame: Omit<Frame, 'max'>, bars: readonly Bar[]): Html {
  const max = Math.max(...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)), 0);
  const step = (WIDTH - LEFT) / Math.max(1, bars.length);
  // The last one is always named; of the others as many as there is room for.
  const everyNth = Math.ceil(LABEL_WIDTH / step);
  const drawn = bars.map((bar, index) =>
    drawBar(bar, {
      x: LEFT + index * step,
      step,
      max,
      label: frame.label,
      name: nameAt(bars.length - 1 - index, everyNth),
    }),
  );
  return figure({ ...frame, max }, max === 0 ? null : drawn);
}

/** A phone leaves the minor ones out. */
type Naming = 'shown' | 'minor' | 'none';

function nameAt(fromLast: number, everyNth: number): Naming {
  if (fromLast % everyNth !== 0) return 'none';
  return fromLast % (2 * everyNth) === 0 ? 'shown' : 'minor';
}

interface BarPosition {
  readonly x: number;
  readonly step: number;
  readonly max: number;
  readonly label: (value: number) => string;
  readonly name: Naming;
}

function drawBar({ label, parts }: Bar, { x, step, max, label: write, name }: BarPosition): Html {
  const width = Math.max(2, Math.min(48, step * 0.7));
  const left = x + (step - width) / 2;
  let ground = HEIGHT - BOTTOM;
  const rects = parts.map(({ tone, value }) => {
    const height = scale(value, max);
    ground -= height;
    return (
      value > 0 &&
      html`<rect
        class="fill"
        data-tone="${tone}"
        x="${px(left)}"
        y="${px(ground)}"
        width="${px(width)}"
        height="${px(height)}"
        rx="1.5"
      />`
    );
  });
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  return html`<g
    ><title>${label}: ${write(total)}</title>${rects}
    ${name !== 'none' && html`<text class="${name}" x="${px(x + step / 2)}" y="${HEIGHT - 5}" text-anchor="middle">${label}</text>`}</g
  >`;
}

export interface Line {
  readonly tone: string;
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

/** Lines over time; `marks` are moments of failure. */
export function lineChart(
  frame: Omit<Frame, 'max'> & { readonly max?: number },
  lines: readonly Line[],
  marks: readonly number[] = [],
): Html {
  const points = lines.flatMap((line) => line.points);
  const max = frame.max ?? Math.max(...points.map(({ value }) => value), 0);
  const [from, to] = [Math.min(...points.map(({ at }) => at)), Math.max(...points.map(({ at }) => at))];
  const xOf = (at: number) => LEFT + ((at - from) / Math.max(1, to - from)) * (WIDTH - LEFT - 4);
  const drawn = [
    ...marks.map(
      (at) =>
        html`<line class="line" data-tone="bad" x1="${px(xOf(at))}" x2="${px(xOf(at))}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" />`,
    ),
    ...lines.map(
      ({ tone, points: own }) =>
        html`<polyline
          class="line"
          data-tone="${tone}"
          points="${own.map(({ at, value }) => `${px(xOf(at))},${px(HEIGHT - BOTTOM - scale(value, max))}`).join(' ')}"
        />`,
    ),
  ];
  const times = [
    html`<text data-moment="short" data-at="${from}" x="${LEFT}" y="${HEIGHT - 5}">${minuteText(from)}</text>`,
    html`<text data-moment="short" data-at="${to}" x="${WIDTH - 4}" y="${HEIGHT - 5}" text-anchor="end">${minuteText(to)}</text>`,
  ];
  return figure({ ...frame, max }, points.length < 2 ? null : [...drawn, ...times]);
}

function figure({ id, title, text, max, label, legend = [], empty = 'Nothing to draw yet.' }: Frame, drawn: TemplatePart): Html {
  return html`<figure class="chart" data-key="chart-${id}">
    <figcaption id="chart-${id}">
      ${title}
      ${legend.map(([tone, name]) => html`<span class="key"><span class="dot" data-tone="${tone}"></span>${name}</span>`)}
    </figcaption>
    ${
      drawn === null
        ? html`<p class="empty">${empty}</p>`
        : html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="chart-${id} chart-${id}-text">
              <line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}" />
              <line class="axis top" x1="${LEFT}" x2="${WIDTH}" y1="${TOP}" y2="${TOP}" />
              <text x="${LEFT - 6}" y="${TOP + 10}" text-anchor="end">${label(max)}</text>
              <text x="${LEFT - 6}" y="${HEIGHT - BOTTOM}" text-anchor="end">${label(0)}</text>
              ${drawn}
            </svg>
            <p class="spoken" id="chart-${id}-text">${text}</p>`
    }
  </figure>`;
}

function scale(value: number, max: number): number {
  return max === 0 ? 0 : (value / max) * (HEIGHT - BOTTOM - TOP);
}

function px(value: number): number {
  return Math.round(value * 10) / 10;
}
