const [LEFT, WIDTH, HEIGHT, TOP] = [520, 420, 22, 30];

/** Each row that has a floor as a bar of its ratio, with its goal as a mark. */
export function chartOf(all) {
  const rows = all.filter(({ ratio }) => ratio !== null);
  const largest = Math.max(1, ...rows.map(({ ratio, goal }) => Math.max(ratio, limitOf(goal))));
  const scale = (ratio) => (Math.log2(1 + ratio) / Math.log2(1 + largest)) * WIDTH;
  const total = TOP + rows.length * HEIGHT + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 110} ${total}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    '<text x="10" y="18" font-weight="bold">times the floor (bar), goal (line)</text>',
    ...rows.flatMap((row, index) => linesOf(row, TOP + index * HEIGHT, scale)),
    '</svg>',
    '',
  ].join('\n');
}

function linesOf({ row, ratio, goal, ok }, y, scale) {
  const mark = (LEFT + scale(limitOf(goal))).toFixed(1);
  return [
    `<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end">${escape(row)}</text>`,
    `<rect x="${LEFT}" y="${y + 4}" width="${scale(ratio).toFixed(1)}" height="14" fill="${ok ? '#3b7dd8' : '#d8683b'}"/>`,
    ...(goal === '' ? [] : [`<line x1="${mark}" x2="${mark}" y1="${y + 1}" y2="${y + 21}" stroke="#222" stroke-width="2"/>`]),
    `<text x="${(LEFT + scale(Math.max(ratio, limitOf(goal))) + 6).toFixed(1)}" y="${y + 15}">${ratio.toFixed(2)} x</text>`,
  ];
}

function limitOf(goal) {
  return Number(/[\d.]+/.exec(goal)?.[0] ?? 1);
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
