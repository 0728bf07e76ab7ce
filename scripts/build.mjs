// Builds dist/: the library (tsc) and the command line (one esbuild bundle, split so that a verb loads only its own code).
//   node scripts/build.mjs            what changed
//   node scripts/build.mjs --cli      only the command line
// Each part is skipped when its sources are what they were at its last build.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readStamp, stampOf } from './content-stamp.mjs'
import { directLibsql } from './direct-libsql.mjs'
import { pastTheDoor } from './past-the-door.mjs'
import { runStep, StepFailedError } from './run-step.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const src = join(root, 'src')
const dist = join(root, 'dist')
const cache = join(root, '.cache')
const SOURCES = [
  'src',
  'scripts/build.mjs',
  'scripts/direct-libsql.mjs',
  'scripts/past-the-door.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
]
const MEND = 'node scripts/setup.mjs'

/** Stay packages of their own: native code, and pino, whose parts look for files beside themselves. */
const EXTERNAL = ['@libsql/*', '@napi-rs/keyring', 'pino']

/** Under `src/cli`: verbs that start without the rest of the command line. */
const COLD = ['cold-list', 'cold-broker']

/** CommonJS packages inside an ESM bundle ask for `require`. */
const BANNER = `import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)`

/** Builds what is out of date. Several processes may ask at once: one builds, the others wait for it. */
export async function build({ cliOnly = false, say = (line) => console.error(line) } = {}) {
  const release = await takeTurn()
  try {
    if (!cliOnly) await buildPart('library', { proof: 'identity/index.js', make: emitLibrary }, say)
    await buildPart('command line', { proof: 'cli/reeve.js', make: bundleCli }, say)
  } finally {
    await release()
  }
}

async function takeTurn() {
  const { default: lockfile } = await import('proper-lockfile')
  mkdirSync(cache, { recursive: true })
  return lockfile.lock(cache, {
    lockfilePath: join(cache, 'build.lock'),
    stale: 20_000,
    retries: { forever: true, minTimeout: 100, maxTimeout: 500, maxRetryTime: 300_000 },
  })
}

/** `proof`: a file of the part, so that a removed dist/ is built again. */
async function buildPart(name, { proof, make }, say) {
  const stamp = stampOf(root, SOURCES, (path) => !path.endsWith('.test.ts'))
  const stampFile = join(cache, `built-${name.replace(' ', '-')}.stamp`)
  if (readStamp(stampFile) === stamp && existsSync(join(dist, proof))) return
  const started = Date.now()
  const fresh = join(cache, `build-${process.pid}`)
  rmSync(fresh, { recursive: true, force: true })
  try {
    await make(fresh)
    writeFileSync(stampFile, stamp)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  say(`built the ${name} in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

async function emitLibrary(fresh) {
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
  const command = [process.execPath, tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]
  await runStep('compiling the library', command, { cwd: root, mend: MEND })
  const made = readdirSync(fresh)
  const stale = existsSync(dist) ? readdirSync(dist).filter((name) => name !== 'cli' && !made.includes(name)) : []
  for (const name of stale) rmSync(join(dist, name), { recursive: true, force: true })
  for (const name of made) replace(join(dist, name), join(fresh, name))
}

/**
 * Two bundles. `reeve.js` is what starts: CommonJS, with what runs most beside it in one file each (the listing of cached
 * tools, and what is done in the broker), because ES modules and many files would cost these more than their code does.
 * All else is split ES modules, so that a verb loads its own code only.
 */
async function bundleCli(fresh) {
  const { build: bundle } = await import('esbuild')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const shared = {
    absWorkingDir: root,
    outdir: fresh,
    bundle: true,
    platform: 'node',
    // jsonc-parser's CommonJS form asks for its parts in a way that no bundler follows.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    legalComments: 'linked',
    external: EXTERNAL,
    define: { REEVE_VERSION: JSON.stringify(version) },
    logLevel: 'silent',
  }
  try {
    await bundle({
      ...shared,
      entryPoints: ['src/cli/reeve.ts', ...COLD.map((name) => `src/cli/${name}.ts`)],
      format: 'cjs',
      // Nobody sees a name in these: what fails unexpectedly there is done again by the other bundle, or is a stack.
      minify: true,
      plugins: [required(COLD), pastTheDoor(src), directLibsql, besides('./run-process.js', './run-process.mjs')],
    })
    await bundle({
      ...shared,
      entryPoints: ['src/cli/run-process.ts'],
      format: 'esm',
      splitting: true,
      outExtension: { '.js': '.mjs' },
      plugins: [pastTheDoor(src), directLibsql],
      banner: { js: BANNER },
    })
  } catch (error) {
    throw new StepFailedError('bundling the command line failed', error.message, MEND)
  }
  writeFileSync(join(fresh, 'package.json'), '{"type":"commonjs"}\n')
  chmodSync(join(fresh, 'reeve.js'), 0o755)
  replace(join(dist, 'cli'), fresh)
}

/**
 * Makes `reeve.ts` take these files from beside it with `require`. An `import` of its own kind costs CommonJS the whole
 * loader of ES modules.
 */
function required(names) {
  return {
    name: 'required',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\.\/cold-/ }, ({ path, kind }) =>
        kind === 'require-call' ? { path, external: true } : undefined,
      )
      onLoad({ filter: /[\\/]cli[\\/]reeve\.ts$/ }, async ({ path }) => ({
        contents: names.reduce(
          (text, name) => text.replaceAll(`import('./${name}.js')`, `Promise.resolve(require('./${name}.js'))`),
          readFileSync(path, 'utf8'),
        ),
        loader: 'ts',
      }))
    },
  }
}

/** Leaves an import as one of a file beside the bundle. */
function besides(path, file) {
  const filter = new RegExp(`^${path.replaceAll('.', '\\.')}$`)
  return { name: 'besides', setup: ({ onResolve }) => onResolve({ filter }, () => ({ path: file, external: true })) }
}

/** A running process may read a folder while it is replaced, but never finds half of one. */
function replace(target, fresh) {
  mkdirSync(dirname(target), { recursive: true })
  const old = `${target}.old-${process.pid}`
  if (existsSync(target)) renameSync(target, old)
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await build({ cliOnly: process.argv.includes('--cli') })
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
