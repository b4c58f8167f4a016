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

fetch(positionals[0], {
  method: values.request ?? (body === undefined ? 'GET' : 'POST'),
  headers: [
    ...(body === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded']]).filter(
      () => !headers.some((header) => /^content-type:/i.test(header)),
    ),
    ...headers.map((header) => header.split(/:\s*(.*)/s).slice(0, 2)),
  ],
  body,
  redirect: 'manual',
  signal: AbortSignal.timeout(Number(values['max-time']) * 1000),
}).then(
  async (answer) => {
    if (values.fail && answer.status >= 400) process.exitCode = 22;
    else process.stdout.write(await answer.text());
  },
  (error) => {
    console.error(`curl: (7) ${error.cause?.message ?? error.message}`);
    process.exitCode = 7;
  },
);
