/** The package version, put in by the bundler and the test runner. */
declare const FORAY_VERSION: string;

/** The name of the part that `command-line.ts` becomes in the built command, and what tells this build from others. */
declare const FORAY_COMMAND_LINE: string;
/** Parts that lie together in a file of another name. */
declare const FORAY_TOGETHER: Readonly<Record<string, string>>;
declare const FORAY_BUILD: string;

/** Whether the tests of faults may kill the process at its steps; false in what users run. */
declare const FORAY_CRASH_POINTS: boolean | undefined;

/** Whether this is the single-file command, which is its own program. */
declare const FORAY_SINGLE_FILE: boolean | undefined;

/** What the browser gets: bundled, minified, as text. */
declare module '*?bundle' {
  const text: string;
  export default text;
}
