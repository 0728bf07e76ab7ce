import { dirname } from 'node:path'
import type { FileSystemPolicy } from '../../permissions/index.js'
import { existingFolder } from './existing-folder.js'
import { readGlob } from './glob-pattern.js'
import { scanGlob } from './glob-scan.js'
import { type DeniedPattern, type GrantContext, grantsOf } from './grants.js'
import { locate } from './locate.js'
import type { Plan, Rule } from './plan.js'
import { protectedGrants } from './protect.js'
import { type Access, onePerPath, refuseOtherNames, refuseUnsteadyPaths, type Settled, settle } from './settle.js'
import { unenforceable } from './unenforceable.js'
import { depthOf, isWithin } from './within.js'

export interface PlanRequest extends GrantContext {
  readonly policy: Extract<FileSystemPolicy, { type: 'restricted' }>
  readonly network: boolean
  /** Of `--sandbox-state-readable-root`; absolute, normalised. */
  readonly readableRoots: readonly string[]
  /** What the command never sees, where it exists; absolute, normalised. */
  readonly hidden: readonly string[]
}

const PLACE = 'permissionProfile.file_system'

/**
 * Works out what a restricted profile allows on this machine, as it lies now (reference: authority, 8 and 10).
 *
 * @throws SandboxCommandError `sandbox_unenforceable`
 */
export async function makePlan(request: PlanRequest): Promise<Plan> {
  const { grants, denied } = grantsOf(request.policy.entries, request, PLACE)
  const readable = request.readableRoots.map(
    (path) => ({ path, access: 'read', place: '--sandbox-state-readable-root' }) as const,
  )
  const named = await settle([...grants, ...readable])
  const matched = await matchedBy(denied, request)
  const hidden = await settle(request.hidden.map((path) => ({ path, access: 'deny', place: path })))
  const given = [...named, ...matched, ...hidden.filter(({ isMissing }) => !isMissing)]
  const protectedOnes = await settle(await protectedGrants(onePerPath(given)))
  const all = [...given, ...protectedOnes]
  refuseUnsteadyPaths(all)
  const { base, rules } = rulesOf(onePerPath(all))
  if (base === 'none') refuseOtherNames([...given, ...protectedOnes])
  const cwd = await startingFolder(request.cwd, { base, rules })
  const links = [...new Map(all.flatMap((one) => one.links).map((link) => [link.path, link])).values()]
  return { base, rules, links, network: request.network, cwd }
}

/** What the patterns match now. */
async function matchedBy(denied: readonly DeniedPattern[], { cwd, policy }: PlanRequest): Promise<readonly Settled[]> {
  const maxDepth = policy.glob_scan_max_depth ?? Number.POSITIVE_INFINITY
  const settled: Settled[] = []
  for (const { pattern, place } of denied) {
    const glob = readGlob(pattern, cwd)
    if ('fault' in glob) throw unenforceable(`the pattern \`${pattern}\`: ${glob.fault}`, place)
    const base = await locate(glob.base)
    if (base.kind === 'unknown') throw unenforceable(`the pattern \`${pattern}\`: ${base.reason}`, place)
    const { links } = base
    if (base.kind === 'missing' || !base.isFolder) {
      settled.push(...links.map((link) => linkOnly(link.path, links, place)))
      continue
    }
    const matches = await scanGlob(glob, base.real, maxDepth)
    if ('fault' in matches) throw unenforceable(`the pattern \`${pattern}\`: ${matches.fault}`, place)
    for (const { real, isFolder } of matches) {
      settled.push({ path: real, access: 'deny', place, isFolder, isMissing: false, links })
    }
  }
  return settled
}

/** Nothing to deny yet; kept so that a link that can be turned elsewhere is noticed. */
function linkOnly(path: string, links: Settled['links'], place: string): Settled {
  return { path, access: 'deny', place, isFolder: true, isMissing: true, links }
}

/** What counts at a path: of an entry, or of nothing at all. */
type Effective = Access | 'none'

function rulesOf(settled: readonly Settled[]): Pick<Plan, 'base' | 'rules'> {
  const root = settled.find(({ path }) => path === '/')?.access
  const base = root === undefined || root === 'deny' ? 'none' : root
  const effective = new Map<string, Effective>([['/', base]])
  const kept: Settled[] = []
  const absent: Rule[] = []
  const inOrder = settled.filter(({ path }) => path !== '/').sort((a, b) => depthOf(a.path) - depthOf(b.path))
  for (const one of inOrder) {
    const above = accessAbove(one.path, effective)
    if (one.isMissing) {
      if (above === 'write') absent.push({ kind: 'absent', path: one.path })
      continue
    }
    // What is denied is opened again only by what may be written to, as the reference does.
    const access = one.access === 'read' && above === 'deny' ? 'deny' : one.access
    effective.set(one.path, access)
    // A root in a root stays a mount of its own, which can't be moved away.
    if (access !== above || access === 'write') kept.push({ ...one, access })
  }
  const narrower = [...kept.filter(({ access }) => access !== 'write'), ...absent].map(({ path }) => path)
  const rules = [...kept.map((one) => ruleOf(one, kept)), ...absent, ...heldFolders(narrower, effective)]
  return { base, rules: rules.sort((a, b) => depthOf(a.path) - depthOf(b.path)) }
}

/**
 * The folders on the way to what is narrower than what is around it. As mounts of their own they can't be moved: what
 * a path denies could otherwise be had under another path, by the same command or the next.
 */
function heldFolders(paths: readonly string[], effective: ReadonlyMap<string, Effective>): readonly Rule[] {
  const held = new Set<string>()
  for (const path of paths) {
    for (let folder = dirname(path); !effective.has(folder) && !held.has(folder); folder = dirname(folder)) {
      if (accessAbove(folder, effective) !== 'write' || MADE_ANEW.includes(folder)) break
      held.add(folder)
    }
  }
  return [...held].map((path) => ({ kind: 'write', path, isFolder: true }))
}

/** Mounts of their own in any sandbox. */
const MADE_ANEW = ['/proc', '/dev', '/sys']

function ruleOf({ path, access, isFolder }: Settled, kept: readonly Settled[]): Rule {
  if (access !== 'deny') return { kind: access, path, isFolder }
  return {
    kind: 'deny',
    path,
    isFolder,
    opened: kept.some((other) => other.path !== path && isWithin(other.path, path)),
  }
}

function accessAbove(path: string, effective: ReadonlyMap<string, Effective>): Effective {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const access = effective.get(folder)
    if (access !== undefined) return access
    if (folder === '/') return 'none'
  }
}

/** Where the command starts; it must be able to be there. */
async function startingFolder(cwd: string, { base, rules }: Pick<Plan, 'base' | 'rules'>): Promise<string> {
  const real = await existingFolder(cwd)
  const last = rules.filter(({ path }) => isWithin(real, path)).at(-1)
  if (last === undefined ? base === 'none' : last.kind === 'deny') {
    throw unenforceable(`the command may not read \`${cwd}\`, where it would start`, 'sandboxCwd')
  }
  return real
}
