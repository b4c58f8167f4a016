// `node bench/chart.mjs RESULT.json > chart.svg`: each row that has a floor as a bar of its ratio, with its goal as a mark.
import { readFileSync } from 'node:fs';

const rows = JSON.parse(readFileSync(process.argv[2] ?? 'bench.json', 'utf8')).filter(({ ratio }) => ratio !== null);
const [left, width, height, top] = [470, 420, 22, 30];
const largest = Math.max(...rows.map(({ ratio, goal }) => Math.max(ratio, limitOf(goal))));
const scale = (ratio) => (Math.log2(1 + ratio) / Math.log2(1 + largest)) * width;
const total = top + rows.length * height + 10;

console.log(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 110} ${total}" font-family="sans-serif" font-size="12">`,
);
console.log(
  `<rect width="100%" height="100%" fill="#fff"/><text x="10" y="18" font-weight="bold">times the floor (bar), goal (line)</text>`,
);
for (const [index, { row, ratio, goal, ok }] of rows.entries()) {
  const y = top + index * height;
  const mark = left + scale(limitOf(goal));
  console.log(`<text x="${left - 8}" y="${y + 15}" text-anchor="end">${escape(row)}</text>`);
  console.log(
    `<rect x="${left}" y="${y + 4}" width="${scale(ratio).toFixed(1)}" height="14" fill="${ok ? '#3b7dd8' : '#d8683b'}"/>`,
  );
  console.log(
    `<line x1="${mark.toFixed(1)}" x2="${mark.toFixed(1)}" y1="${y + 1}" y2="${y + 21}" stroke="#222" stroke-width="2"/>`,
  );
  console.log(`<text x="${left + scale(Math.max(ratio, limitOf(goal))) + 6}" y="${y + 15}">${ratio.toFixed(2)} x</text>`);
}
console.log('</svg>');

function limitOf(goal) {
  return Number(/[\d.]+/.exec(goal)?.[0] ?? 1);
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
