// Stands in for curl, so that tests of scripts that use it need nothing but Node. Knows the options that they use.
const { readFileSync } = require('node:fs');
const { parseArgs } = require('node:util');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean' },
    'show-error': { type: 'boolean' },
    fail: { type: 'boolean' },
    'max-time': { type: 'string', default: '30' },
    config: { type: 'string' },
    header: { type: 'string', multiple: true, default: [] },
    request: { type: 'string' },
    data: { type: 'string', multiple: true, default: [] },
    'data-urlencode': { type: 'string', multiple: true, default: [] },
  },
});
const config = values.config === '-' ? readFileSync(0, 'utf8') : '';
const headers = [...values.header, ...[...config.matchAll(/^header = "(.*)"$/gm)].map(([, header]) => header)];
const encoded = values['data-urlencode'].map((pair) => new URLSearchParams([pair.split(/=(.*)/s).slice(0, 2)]).toString());
const body = values.data.length + encoded.length > 0 ? [...encoded, ...values.data].join('&') : undefined;

const sent = headers.map((header) => header.split(/:\s*(.*)/s).slice(0, 2));
if (body !== undefined && !headers.some((header) => /^content-type:/i.test(header)))
  sent.push(['Content-Type', 'application/x-www-form-urlencoded']);
if (body !== undefined) sent.push(['Content-Length', String(Buffer.byteLength(body))]);

// Not by fetch, which takes as long to load as all the rest.
const { request } = require(positionals[0].startsWith('https:') ? 'node:https' : 'node:http');
request(positionals[0], {
  method: values.request ?? (body === undefined ? 'GET' : 'POST'),
  headers: Object.fromEntries(sent),
  signal: AbortSignal.timeout(Number(values['max-time']) * 1000),
})
  .on('response', (answer) => {
    if (values.fail && answer.statusCode >= 400) {
      process.exitCode = 22;
      answer.resume();
    } else answer.pipe(process.stdout);
  })
  .on('error', (error) => {
    console.error(`curl: (7) ${error.message}`);
    process.exitCode = 7;
  })
  .end(body);
