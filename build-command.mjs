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

/**
 * The YAML library in the form of ES modules that it also comes in: of the one for Node every module stays in, each with a
 * scope of its own.
 */
const yamlInOneScope = {
  name: 'yaml-in-one-scope',
  setup(pluginBuild) {
    const library = path.join(pluginBuild.initialOptions.absWorkingDir, 'node_modules/yaml/browser/dist/index.js');
    pluginBuild.onResolve({ filter: /^yaml$/ }, () => ({ path: library }));
  },
};

/** The entry loads the rest from beside it. */
const besideEntry = {
  name: 'beside-entry',
  setup(pluginBuild) {
    const loader = path.resolve(pluginBuild.initialOptions.absWorkingDir, 'src/cli/start/load-parts.ts');
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
      contents: "export { loadLibrary as default } from './src/store/sqlite/load-binary.ts';",
      resolveDir: absWorkingDir,
    }));
  },
};

/** Node loads modules of this kind sooner, and only what is used of its own ones. */
const AS_COMMONJS = { format: 'cjs', supported: { 'dynamic-import': false } };
/** What the loader of the parts gives to each, see src/cli/start/parts.ts. */
const PART = { banner: '(function(exports,require,module,__dirname){', footer: '})' };
const AS_PART = {
  ...AS_COMMONJS,
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  legalComments: 'none',
  sourcemap: 'external',
  logLevel: 'warning',
};

/** What every form of the command is built with. */
export async function commonOptions({ crashPoints = false, singleFile = false, version = '' } = {}) {
  const own = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));
  return {
    absWorkingDir: new URL('.', import.meta.url).pathname,
    bundle: true,
    // Names of libraries are those under this folder, also where node_modules is a link.
    preserveSymlinks: true,
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

/** What is loaded at one go lies in one file: the command line, what a check of a workflow file needs, what a service needs besides. */
const TOGETHER = ['src/cli/command-line.ts', 'src/app/workflow.ts', 'src/cli/actions/serve.ts'];

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
    plugins: [browserBundles, smallSchemas, yamlInOneScope, libraryBeside],
  });
  const folder = path.join(common.outdir, 'chunks');
  await mkdir(folder, { recursive: true });
  const files = [];
  const texts = new Map();
  for (const { path: file, text } of outputFiles) {
    if (file.endsWith('.js')) texts.set(path.basename(file), text);
    else files.push(await written(path.relative('.', file), text));
  }
  const together = {};
  for (const names of groupsOf(metafile.outputs)) {
    for (const name of names) together[name] = names[0];
    files.push(...(await writePart(folder, names[0], await groupPart(names, texts))));
  }
  for (const [name, text] of texts)
    if (!(name in together)) files.push(...(await writePart(folder, name, await singlePart(name, text))));
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
      // One may import the same part more than once.
      const parts = new Set(needed.map((part) => part.path));
      group.push(...[...parts].filter((part) => !group.includes(part) && !taken.has(part)));
    }
    for (const file of group) taken.add(file);
    return group.map((file) => path.basename(file));
  });
}

function singlePart(name, text) {
  return transform(text, { ...AS_PART, ...PART, sourcefile: name });
}

/**
 * Many parts in one, which exports what they export by their names. To read and compile it takes half the time of dozens,
 * and one of them finds what it uses of another at once.
 */
async function groupPart(names, texts) {
  const inGroup = {
    name: 'in-group',
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: /^\.\// }, ({ path: file, kind }) => {
        const isHere = names.includes(file.slice(2)) && kind === 'import-statement';
        return isHere ? { path: file.slice(2), namespace: 'in-group' } : { path: file, external: true };
      });
      pluginBuild.onLoad({ filter: /.*/, namespace: 'in-group' }, ({ path: name }) => ({ contents: texts.get(name) }));
    },
  };
  const { outputFiles } = await build({
    ...AS_PART,
    banner: { js: PART.banner },
    footer: { js: PART.footer },
    bundle: true,
    // A start reads all of it: names that only people read are left to its map.
    minifyIdentifiers: true,
    packages: 'external',
    stdin: { contents: names.map(exporting).join('\n') },
    outfile: names[0],
    write: false,
    plugins: [inGroup],
  });
  const [map, code] = outputFiles.map(({ text }) => text);
  return { code, map };
}

/** With the mark of what was an ES module: others tell its default export by it. */
function exporting(name, index) {
  return `import * as part${index} from './${name}';
Object.defineProperty(part${index}, '__esModule', { value: true });
export { part${index} as ${JSON.stringify(name)} };`;
}

async function writePart(folder, name, { code, map }) {
  const file = path.join(folder, name);
  return [await written(file, `${code}//# sourceMappingURL=${name}.map\n`), await written(`${file}.map`, map)];
}

async function written(file, text) {
  await writeFile(file, text);
  return file;
}
