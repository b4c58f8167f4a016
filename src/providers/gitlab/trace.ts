/** Begins each line of a log with times: when, which stream, and `+` where the line goes on with an earlier one. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ([0-9a-f]{2}[OE])([+ ]?)/;

/** Tells the web page which lines it may fold away: `section_start:<time>:<name>[options]`, then a redraw of the line. */
// oxlint-disable-next-line no-control-regex -- the escape sequence is part of the marker
const SECTION = /section_(?:start|end):\d+:[\w.-]+(?:\[[^\]\r\n]*\])?(?:\r|\u001b\[0K)*/g;

/** A job's log without what the runner adds to each line and section for the vendor's own viewer. */
export function plainTrace(text: string): string {
  const lines: string[] = [];
  const lastOf = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [stamp = '', stream = '', flag] = STAMP.exec(line) ?? [];
    // Markers go before lines are joined: on one line, the end of a section's name could not be told.
    const said = line.slice(stamp.length).replaceAll(SECTION, '');
    const earlier = flag === '+' ? lastOf.get(stream) : undefined;
    if (earlier !== undefined) lines[earlier] += said;
    else lastOf.set(stream, lines.push(said) - 1);
  }
  return lines.join('\n');
}
