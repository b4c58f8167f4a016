/** The package version, put in by the bundler and the test runner. */
declare const FORAY_VERSION: string;

declare module '*?raw' {
  const text: string;
  export default text;
}
