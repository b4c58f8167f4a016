/** The package version, put in by the bundler and the test runner. */
declare const FORAY_VERSION: string;

/** What the browser gets: bundled, minified, as text. */
declare module '*?bundle' {
  const text: string;
  export default text;
}
