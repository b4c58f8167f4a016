import { parseArgs } from 'node:util';

export function readOptions(usage, options) {
  const refuse = (why) => {
    console.error(`${why}\nusage: ${usage}`);
    process.exit(2);
  };
  const values = (() => {
    try {
      return parseArgs({ options }).values;
    } catch (error) {
      return refuse(error.message);
    }
  })();
  const count = (name, least = 1) => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number >= least) return number;
    return refuse(`--${name} needs a whole number from ${least}, got "${values[name]}"`);
  };
  return { values, count, refuse };
}
