import { writeSync } from 'node:fs';

// The version is told before anything is loaded.
const [, , first] = process.argv;
if (first === '-V' || first === '--version') writeSync(1, `foray ${FORAY_VERSION}\n`);
else void import('./command-line.ts').then(({ main }) => main(process.argv.slice(2)));
