// libsql finds its native package by a report over the whole process and a dozen small files: 12 ms of every start. In the
// bundle it asks for the packages of this platform in turn instead; npm installs the one that fits.
import { readFile } from 'node:fs/promises'

/** What libsql 0.5 does there; the build fails when another version does it otherwise. */
const ORIGINAL = /^const \{ load, currentTarget \}[\s\S]*?\nfunction requireNative\(\) \{[\s\S]*?\n\}\n/m

const DIRECT = `
function requireNative() {
  const { createRequire } = require('node:module');
  const targets = {
    'linux-x64': ['linux-x64-gnu', 'linux-x64-musl'],
    'linux-arm64': ['linux-arm64-gnu', 'linux-arm64-musl'],
    'linux-arm': ['linux-arm-gnueabihf', 'linux-arm-musleabihf'],
    'win32-x64': ['win32-x64-msvc'],
  };
  const platform = process.platform + '-' + process.arch;
  // Package managers that keep dependencies apart show the native package to libsql alone.
  const resolvers = [() => require, () => createRequire(require.resolve('libsql'))];
  let failure;
  for (const resolver of resolvers) {
    for (const target of targets[platform] ?? [platform]) {
      try {
        return resolver()('@libsql/' + target);
      } catch (error) {
        if (failure === undefined || failure.code === 'MODULE_NOT_FOUND') failure = error;
      }
    }
  }
  throw failure;
}
`

/** An esbuild plugin. */
export const directLibsql = {
  name: 'direct-libsql',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]libsql[\\/]index\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!ORIGINAL.test(text)) throw new Error(`${path} loads its native package in another way than expected`)
      return { contents: text.replace(ORIGINAL, () => DIRECT), loader: 'js' }
    })
  },
}
