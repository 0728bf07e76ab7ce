import { dirname } from 'node:path'
import type { Plan, Rule } from './plan.js'
import { isWithin } from './within.js'

/** The program that macOS has for it; found nowhere else. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** What programs need to start at all, for `minimal` on macOS. */
export const MACOS_FOLDERS = Object.freeze([
  '/System',
  '/usr',
  '/bin',
  '/sbin',
  '/Library/Apple',
  '/Library/Frameworks',
  '/Library/Preferences',
  '/private/etc',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/dev',
])

/**
 * The arguments of `sandbox-exec` for a command: a profile of the plan. Of its rules the last one that fits counts, so they
 * stand in the order of the tree. Paths are parameters, never part of the text.
 */
export function seatbeltArguments(
  plan: Pick<Plan, 'base' | 'rules' | 'network'>,
  command: readonly string[],
): string[] {
  const named = new Map<string, string>()
  const name = (path: string): string => {
    const known = named.get(path) ?? `PATH_${named.size}`
    named.set(path, known)
    return `(param "${known}")`
  }
  const profile = [
    ...BASE,
    ...baseRules(plan.base),
    ...plan.rules.flatMap((rule) => fileRules(rule, name)),
    ...heldFolders(plan).map((path) => `(deny file-write-unlink (literal ${name(path)}))`),
    ...DEVICES,
    ...(plan.network ? NETWORK : []),
  ].join('\n')
  const parameters = [...named].flatMap(([path, known]) => ['-D', `${known}=${path}`])
  return ['-p', profile, ...parameters, '--', ...command]
}

function baseRules(base: Plan['base']): readonly string[] {
  if (base === 'none') return ['(allow file-read-metadata)', '(allow file-read-data (literal "/"))']
  return base === 'read' ? ['(allow file-read*)'] : ['(allow file-read*)', '(allow file-write*)']
}

function fileRules(rule: Rule, name: (path: string) => string): readonly string[] {
  const where = `(${rule.kind === 'absent' || rule.isFolder ? 'subpath' : 'literal'} ${name(rule.path)})`
  switch (rule.kind) {
    case 'read':
      return [`(allow file-read* ${where})`, `(deny file-write* ${where})`]
    case 'write':
      return [`(allow file-read* ${where})`, `(allow file-write* ${where})`]
    case 'absent':
      return [`(deny file-write* ${where})`]
    case 'deny':
      return [`(deny file-read* ${where})`, `(deny file-write* ${where})`]
  }
}

/** A rule is bound to a path: the folders on the way to one that narrows may not be moved away. */
function heldFolders({ base, rules }: Pick<Plan, 'base' | 'rules'>): readonly string[] {
  const held = new Set<string>()
  const writable = rules.filter(({ kind }) => kind === 'write').map(({ path }) => path)
  if (base === 'write') writable.push('/')
  for (const { kind, path } of rules) {
    if (kind === 'write') continue
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
      if (writable.some((root) => isWithin(folder, root))) held.add(folder)
    }
  }
  return [...held]
}

const BASE = [
  '(version 1)',
  '(deny default)',
  '(allow process-exec)',
  '(allow process-fork)',
  '(allow process-info* (target same-sandbox))',
  '(allow signal (target same-sandbox))',
  '(allow sysctl-read)',
  '(allow user-preference-read)',
  '(allow ipc-posix-sem)',
  '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.PowerManagement.control"))',
]

const DEVICES = [
  '(allow pseudo-tty)',
  '(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))',
  '(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))',
  '(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))',
]

const NETWORK = [
  '(allow network-outbound)',
  '(allow network-inbound)',
  '(allow network-bind)',
  '(allow system-socket)',
  '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.networkd") (global-name "com.apple.trustd.agent") (global-name "com.apple.SecurityServer") (global-name "com.apple.ocspd"))',
]
