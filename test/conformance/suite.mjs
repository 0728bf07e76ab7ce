// The pinned conformance suite: how it is started, what a revision requires, and what a run found.
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const SUITE = join(ROOT, '.cache/peers/conformance/node_modules/@modelcontextprotocol/conformance')
const HOOK = pathToFileURL(join(ROOT, 'test/conformance/node20-hook.mjs')).href

/** The folder of one scenario's results: `[server-]SCENARIO-TIMESTAMP`; a scenario's name may hold a slash. */
const RESULT_FOLDER = /^(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/

/**
 * Runs the suite once.
 *
 * @param {'client' | 'server'} side the side that is tested
 * @param {{ revision: string, results: string, args: string[], env?: NodeJS.ProcessEnv, limitMs: number }} options
 * @throws when it was not done in time; failed checks are no error
 */
export async function runSuite(side, { revision, results, args, env = process.env, limitMs }) {
  const command = ['--import', HOOK, join(SUITE, 'dist/index.js'), side, '--requirements', revision, '-o', results]
  const child = spawn(process.execPath, [...command, ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-4000)
  })
  const late = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      killGroup(child.pid)
      resolve(true)
    }, limitMs)
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(timer)
      resolve(false)
    })
  })
  // Clients that the suite gave up on are still in its group.
  killGroup(child.pid)
  if (late) throw new Error(`the suite was not done after ${limitMs / 1000} s\n${stderr}`)
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** @returns {Promise<{ scored: string[], unscored: string[] }>} the scenarios of one side at a revision */
export async function requirementsOf(revision, side) {
  const file = await readYaml(join(SUITE, 'requirements', `${revision}.yaml`))
  const unscored = (file.not_scored ?? []).filter(({ leg }) => leg === side).map(({ scenario }) => scenario)
  return { scored: file[side] ?? [], unscored }
}

/** With the reader that the suite itself uses. */
export async function readYaml(path) {
  const { parse } = createRequire(join(SUITE, 'package.json'))('yaml')
  return parse(await readFile(path, 'utf8')) ?? {}
}

/** @returns {Promise<Map<string, object[]>>} scenario → its checks, as the suite wrote them */
export async function readChecks(results, side) {
  const found = new Map()
  for (const path of await readdir(results, { recursive: true })) {
    if (!path.endsWith(`${sep}checks.json`)) continue
    const folder = relative(results, dirname(join(results, path)))
      .split(sep)
      .join('/')
    const [, name] = RESULT_FOLDER.exec(folder) ?? []
    if (name === undefined) throw new Error(`unexpected results in ${folder}`)
    const scenario = side === 'server' ? name.replace(/^server-/, '') : name
    found.set(scenario, JSON.parse(await readFile(join(results, path), 'utf8')))
  }
  return found
}
