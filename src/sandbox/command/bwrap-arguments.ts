import { dirname } from 'node:path'
import type { Plan, Rule } from './plan.js'
import { unenforceable } from './unenforceable.js'
import { isWithin } from './within.js'

/** Descriptors that bubblewrap gets beside the command's own three. */
export const FD = Object.freeze({ arguments: 3, seccomp: 4, status: 5 })

/**
 * Bubblewrap's options for a plan; what must be there on disk is there already.
 */
export function bwrapArguments(plan: Pick<Plan, 'network' | 'cwd'> & { readonly files: Files }): readonly string[] {
  const { files, network, cwd } = plan
  const args = [
    ...['--new-session', '--die-with-parent'],
    ...(files.kind === 'all' ? ['--dev-bind', '/', '/', '--proc', '/proc'] : fileArguments(files)),
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc'],
    ...(network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL'],
    ...['--seccomp', String(FD.seccomp), '--json-status-fd', String(FD.status)],
    ...['--chdir', cwd],
  ]
  if (args.length <= MAX_ARGUMENTS) return args
  throw unenforceable('it names more paths than bubblewrap takes', 'permissionProfile.file_system')
}

/** Bubblewrap takes 9000, those of the command included. */
const MAX_ARGUMENTS = 8000

/** Which files a command sees: all of them, or those of a plan. */
export type Files =
  | { readonly kind: 'all' }
  /** `deniedFile`: an empty file that nobody may read. */
  | ({ readonly kind: 'planned'; readonly deniedFile: string } & Pick<Plan, 'base' | 'rules' | 'links'>)

function fileArguments({ base, rules, links, deniedFile }: Extract<Files, { kind: 'planned' }>): readonly string[] {
  const mounted = rules.filter(isMounted)
  const covered = mounted.map(({ path }) => path)
  const steps = mounted.map((rule) => mountOf(rule, deniedFile))
  return [
    ...(base === 'none' ? ['--tmpfs', '/'] : [base === 'write' ? '--bind' : '--ro-bind', '/', '/']),
    ...['--dev', '/dev', '--proc', '/proc', ...SETTINGS.flatMap((path) => ['--ro-bind-try', path, path])],
    ...(base === 'none' ? links.flatMap((link) => linkArguments(link, covered)) : []),
    ...steps.flatMap(({ mount }) => mount),
    // Last, since folders for what is mounted inside are made on the way.
    ...steps.flatMap(({ sealed }) => (sealed === undefined ? [] : ['--remount-ro', sealed])),
    ...(base === 'none' ? ['--remount-ro', '/'] : []),
  ]
}

/**
 * Of the whole machine, in any `/proc`. Who is root outside owns these files inside as well, and needs no capability to write
 * to them: a pattern for core dumps would be run by the kernel, outside.
 */
const SETTINGS = ['sys', 'sysrq-trigger', 'acpi', 'fs', 'mtrr', 'scsi'].map((name) => `/proc/${name}`)

/** In a root that is empty, a path through links needs the links as well. */
function linkArguments({ path, target }: Plan['links'][number], covered: readonly string[]): readonly string[] {
  return covered.some((folder) => isWithin(dirname(path), folder)) ? [] : ['--symlink', target, path]
}

function mountOf(rule: Rule, deniedFile: string): { readonly mount: readonly string[]; readonly sealed?: string } {
  const { path } = rule
  switch (rule.kind) {
    case 'read':
      return { mount: ['--ro-bind', path, path] }
    case 'write':
      return { mount: ['--bind', path, path] }
    case 'absent':
      return { mount: ['--perms', '0555', '--tmpfs', path], sealed: path }
    case 'deny':
      if (!rule.isFolder) return { mount: ['--ro-bind', deniedFile, path] }
      return { mount: ['--perms', rule.opened ? '0111' : '0000', '--tmpfs', path], sealed: path }
  }
}

/** What a fresh `/dev` has anyway, and lets be written to. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)

/** `/dev` and `/proc` are made anew: of the host's, nothing is shown. */
function isMounted({ kind, path }: Rule): boolean {
  return kind === 'absent' || kind === 'deny' || !isMadeAnew(path)
}

/** Refuses what would open the system's own folders to a command. */
export function refuseSystemFolders(rules: readonly Rule[]): void {
  for (const { kind, path } of rules) {
    const isSystem = isMadeAnew(path) || isWithin(path, '/sys')
    if (kind !== 'write' || !isSystem || DEVICES.includes(path)) continue
    throw unenforceable(`\`${path}\` is the system's, and can't be opened for writing`, path)
  }
}

function isMadeAnew(path: string): boolean {
  return isWithin(path, '/proc') || (isWithin(path, '/dev') && !isWithin(path, '/dev/shm'))
}
