// Packs the tarball that would be published, looks it over with publint, installs it in a folder of its own, and uses it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { runStep, StepFailedError } from './run-step.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'reeve-package-'))

try {
  const tarball = await pack()
  await lint(tarball)
  await install(tarball)
  await use()
  console.log(`package: ${manifest.name} ${manifest.version} packs, installs, imports and runs`)
} catch (error) {
  if (!(error instanceof StepFailedError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function pack() {
  const command = ['npm', 'pack', '--ignore-scripts', '--pack-destination', folder]
  await runStep('packing', command, { cwd: root, mend: 'npm pack' })
  const [name] = readdirSync(folder)
  return join(folder, name)
}

async function lint(tarball) {
  const { messages, pkg } = await publint({ pack: { tarball: toArrayBuffer(readFileSync(tarball)) } })
  if (messages.length === 0) return
  const lines = messages.map((message) => `publint: ${message.type}: ${formatMessage(message, pkg)}`)
  throw new StepFailedError('publint found faults in the package', lines.join('\n'), 'npx publint')
}

async function install(tarball) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }))
  const command = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', tarball]
  await runStep('installing the tarball', command, {
    cwd: folder,
    mend: `npm pack && npm install ${manifest.name}-*.tgz`,
  })
}

async function use() {
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('.json'))
  for (const entry of entries) {
    const name = join(manifest.name, entry).replaceAll('\\', '/')
    const script = `if (Object.keys(await import(${JSON.stringify(name)})).length === 0) throw new Error('no exports')`
    await runStep(`import('${name}')`, [process.execPath, '--input-type=module', '-e', script], {
      cwd: folder,
      mend: 'npm run build',
    })
  }
  for (const [name, file] of Object.entries(manifest.bin)) {
    const program = join(folder, 'node_modules', manifest.name, file)
    if (!existsSync(program)) throw new StepFailedError(`the package lacks ${file}`, '', 'npm run build')
    const check = `const { execFileSync } = await import('node:child_process')
const printed = execFileSync(process.execPath, [${JSON.stringify(program)}, '--version'], { encoding: 'utf8' }).trim()
if (printed !== ${JSON.stringify(manifest.version)}) throw new Error('printed ' + printed)`
    await runStep(`${name} --version`, [process.execPath, '--input-type=module', '-e', check], {
      cwd: folder,
      mend: 'npm run build',
    })
  }
}

function toArrayBuffer(buffer) {
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength)
}
