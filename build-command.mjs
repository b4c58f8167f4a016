// How src/cli becomes the command. Libraries are bundled, since one file is read many times faster than the hundreds of
// files of a package; `?bundle` imports, the browser's part, become strings.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, transform } from 'esbuild';
import { browserBundles } from './bundle.mjs';

/**
 * The schema library, small: its messages in fifty languages, of which we use none, stay out, and its functions are
 * imported one by one, so that those nobody calls stay out too.
 */
export const smallSchemas = {
  name: 'small-schemas',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    pluginBuild.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replace(/^import \{ z \} from 'zod';/m, "import * as z from 'zod';"),
      loader: 'ts',
    }));
  },
};

/** The entry loads the rest from beside it. */
const besideEntry = {
  name: 'beside-entry',
  setup(pluginBuild) {
    const loader = path.resolve(pluginBuild.initialOptions.absWorkingDir, 'src/cli/load-parts.ts');
    pluginBuild.onResolve({ filter: /^\.\/command-line\.ts$/ }, () => ({ path: loader }));
  },
};

/** The library for the database brings a binary, and its code is bundled: its own way to find the one is replaced. */
const libraryBeside = {
  name: 'library-beside',
  setup(pluginBuild) {
    const { absWorkingDir } = pluginBuild.initialOptions;
    // The form that needs no address of its own.
    const library = path.join(absWorkingDir, 'node_modules/@photostructure/sqlite/dist/index.cjs');
    pluginBuild.onResolve({ filter: /^@photostructure\/sqlite$/ }, () => ({ path: library }));
    pluginBuild.onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: 'beside', namespace: 'library-beside' }));
    pluginBuild.onLoad({ filter: /.*/, namespace: 'library-beside' }, () => ({
      contents: "export { loadLibrary as default } from './src/lib/library-beside.ts';",
      resolveDir: absWorkingDir,
    }));
  },
};

/** Node loads modules of this kind sooner, and only what is used of its own ones. */
const AS_COMMONJS = { format: 'cjs', supported: { 'dynamic-import': false } };
/** What the loader of the parts gives to each, see src/cli/parts.ts. */
const PART = { banner: '(function(exports,require,module,__dirname){', footer: '})' };

/** What every form of the command is built with. */
export async function commonOptions({ crashPoints = false, singleFile = false, version = '' } = {}) {
  const own = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));
  return {
    absWorkingDir: new URL('.', import.meta.url).pathname,
    bundle: true,
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    define: {
      FORAY_VERSION: JSON.stringify(version || own.version),
      FORAY_CRASH_POINTS: String(crashPoints),
      FORAY_SINGLE_FILE: String(singleFile),
    },
    metafile: true,
    logLevel: 'warning',
  };
}

/**
 * Builds into `outdir` and tells what was made. `crashPoints` puts in the places at which the tests of faults kill the
 * daemon; what is built for users has none.
 */
export async function buildCommand({ outdir, crashPoints = false, version = '' }) {
  const common = { ...(await commonOptions({ crashPoints, version })), outdir };
  const { parts, together } = await buildParts(common);
  const commandLine = parts.map((file) => path.basename(file)).find((name) => /^command-line-\w+\.js$/.test(name));
  const entry = await build({
    ...common,
    ...AS_COMMONJS,
    entryPoints: { cli: 'src/cli/main.ts' },
    sourcemap: true,
    define: {
      ...common.define,
      FORAY_COMMAND_LINE: JSON.stringify(commandLine),
      FORAY_TOGETHER: JSON.stringify(together),
      // The name holds a digest of its content and of the names of all that it loads.
      FORAY_BUILD: JSON.stringify(path.basename(commandLine, '.js').replace('command-line-', '')),
    },
    banner: { js: '#!/usr/bin/env node' },
    plugins: [besideEntry],
  });
  // The entry is CommonJS, also in a package that says otherwise.
  const kind = path.join(outdir, 'package.json');
  await writeFile(kind, '{ "type": "commonjs" }\n');
  return [...Object.keys(entry.metafile.outputs), kind, ...parts];
}

/**
 * What is loaded at one go lies in one file: the command line, what a check of a workflow file needs, what a service needs
 * besides. To read and compile one file takes half the time of dozens.
 */
const TOGETHER = ['src/cli/command-line.ts', 'src/app/workflow.ts', 'src/cli/serve.ts'];

/**
 * What a command needs is loaded when it runs, part by part. The bundler divides only ES modules: each becomes CommonJS
 * afterwards. Tells the files, and which parts lie in a file that bears another name.
 */
async function buildParts(common) {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: { 'command-line': 'src/cli/command-line.ts' },
    entryNames: 'chunks/[name]-[hash]',
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    format: 'esm',
    sourcemap: 'inline',
    write: false,
    plugins: [browserBundles, smallSchemas, libraryBeside],
  });
  const folder = path.join(common.outdir, 'chunks');
  await mkdir(folder, { recursive: true });
  const code = new Map();
  const files = [];
  for (const { path: file, text } of outputFiles) {
    if (file.endsWith('.js')) code.set(path.basename(file), await partOf(path.basename(file), text));
    else files.push(await written(path.relative('.', file), text));
  }
  const together = {};
  for (const [first, ...others] of groupsOf(metafile.outputs)) {
    for (const name of [first, ...others]) together[name] = first;
    files.push(
      ...(await writeGroup(
        folder,
        first,
        [first, ...others].map((name) => [name, code.get(name)]),
      )),
    );
  }
  for (const [name, part] of code) if (!(name in together)) files.push(...(await writePart(folder, name, part)));
  return { parts: files, together };
}

/** The parts of each group, the one that it is loaded for first; a part that several need is in the first of them. */
function groupsOf(outputs) {
  const taken = new Set();
  return TOGETHER.map((entryPoint) => {
    const first = Object.keys(outputs).find((file) => outputs[file].entryPoint === entryPoint);
    const group = [first];
    for (const file of group) {
      const needed = outputs[file].imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true);
      group.push(...needed.map((part) => part.path).filter((part) => !group.includes(part) && !taken.has(part)));
    }
    for (const file of group) taken.add(file);
    return group.map((file) => path.basename(file));
  });
}

function partOf(name, text) {
  return transform(text, {
    ...AS_COMMONJS,
    ...PART,
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    legalComments: 'none',
    sourcemap: 'external',
    sourcefile: name,
    logLevel: 'warning',
  });
}

async function writePart(folder, name, { code, map }) {
  const file = path.join(folder, name);
  return [await written(file, `${code}//# sourceMappingURL=${name}.map\n`), await written(`${file}.map`, map)];
}

/** One expression: an object of the parts by their names. */
async function writeGroup(folder, name, parts) {
  let text = '({\n';
  const sections = [];
  for (const [part, { code, map }] of parts) {
    const begin = `${JSON.stringify(part)}:`;
    sections.push({ offset: { line: text.split('\n').length - 1, column: begin.length }, map: JSON.parse(map) });
    text += `${begin}${code.trimEnd()},\n`;
  }
  return writePart(folder, name, { code: `${text}})\n`, map: JSON.stringify({ version: 3, file: name, sections }) });
}

async function written(file, text) {
  await writeFile(file, text);
  return file;
}
