import { writeSync } from 'node:fs';

// Node opens its debugger to every process of this machine when this signal comes, and agents can send it.
process.on('SIGUSR1', () => {});

// The version is told before anything is loaded.
const [, , first] = process.argv;
if (first === '-V' || first === '--version') tellVersion();
else void import('./command-line.ts').then(({ main }) => main(process.argv.slice(2)));

function tellVersion(): void {
  try {
    writeSync(1, `foray ${FORAY_VERSION}\n`);
  } catch (error) {
    process.stderr.write(`foray: standard output cannot be written: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
