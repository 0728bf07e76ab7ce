import { describe, expect, it } from 'vitest'
import { bwrapArguments, refuseSystemFolders } from './bwrap-arguments.js'
import type { Plan, Rule } from './plan.js'

const files = (plan: Partial<Pick<Plan, 'base' | 'rules' | 'links'>>) => ({
  kind: 'planned' as const,
  deniedFile: '/denied',
  base: 'read' as const,
  rules: [],
  links: [],
  ...plan,
})
/** Without what every sandbox has of `/proc`. */
const text = (plan: Partial<Pick<Plan, 'base' | 'rules' | 'links'>>, network = false) =>
  bwrapArguments({ cwd: '/w', network, files: files(plan) })
    .join(' ')
    .replace(/ --ro-bind-try \/proc\/\S+ \/proc\/\S+/g, '')

describe('bwrapArguments', () => {
  it('mounts in order, and seals what is empty when everything is in place', () => {
    const rules: readonly Rule[] = [
      { kind: 'write', path: '/w', isFolder: true },
      { kind: 'absent', path: '/w/.aws' },
      { kind: 'deny', path: '/w/a', isFolder: true, opened: true },
      { kind: 'deny', path: '/w/b', isFolder: true, opened: false },
      { kind: 'deny', path: '/w/c', isFolder: false, opened: false },
      { kind: 'write', path: '/w/a/in', isFolder: true },
    ]
    expect(text({ rules })).toContain(
      '--ro-bind / / --dev /dev --proc /proc --bind /w /w --perms 0555 --tmpfs /w/.aws --perms 0111 --tmpfs /w/a ' +
        '--perms 0000 --tmpfs /w/b --ro-bind /denied /w/c --bind /w/a/in /w/a/in ' +
        '--remount-ro /w/.aws --remount-ro /w/a --remount-ro /w/b --unshare-user',
    )
  })

  it('begins with nothing where not everything may be read', () => {
    const plan = {
      base: 'none' as const,
      rules: [{ kind: 'read' as const, path: '/usr/bin', isFolder: true }],
      links: [
        { path: '/bin', target: 'usr/bin' },
        { path: '/usr/bin/x', target: 'y' },
      ],
    }
    expect(text(plan)).toContain(
      '--tmpfs / --dev /dev --proc /proc --symlink usr/bin /bin --ro-bind /usr/bin /usr/bin --remount-ro / --unshare-user',
    )
  })

  it('takes capabilities, processes and, unless it is allowed, the network away', () => {
    expect(text({})).toMatch(
      /^--new-session --die-with-parent .*--unshare-pid --unshare-ipc --unshare-net --cap-drop ALL/,
    )
    expect(text({}, true)).not.toContain('--unshare-net')
    expect(bwrapArguments({ cwd: '/w', network: false, files: { kind: 'all' } }).join(' ')).toContain(
      '--dev-bind / / --proc /proc --unshare-user',
    )
  })

  it('is refused for more paths than bubblewrap takes', () => {
    const rules = Array.from(
      { length: 3000 },
      (_, index): Rule => ({ kind: 'read', path: `/w/${index}`, isFolder: true }),
    )
    expect(() => text({ rules })).toThrow(expect.objectContaining({ code: 'sandbox_unenforceable' }))
  })

  it("lets nobody write to the machine's settings, root neither", () => {
    const args = bwrapArguments({ cwd: '/w', network: true, files: files({ base: 'write' }) }).join(' ')
    expect(args).toContain('--proc /proc --ro-bind-try /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger')
  })

  it('shows nothing of the devices and processes of the host', () => {
    const rules: readonly Rule[] = ['/dev', '/dev/dri', '/proc', '/proc/1'].map((path) => ({
      kind: 'read',
      path,
      isFolder: true,
    }))
    expect(text({ rules })).not.toMatch(/-bind \/(?:dev|proc)/)
    expect(text({ rules: [{ kind: 'deny', path: '/proc', isFolder: true, opened: false }] })).toContain('--tmpfs /proc')
    expect(text({ rules: [{ kind: 'write', path: '/dev/shm', isFolder: true }] })).toContain('--bind /dev/shm /dev/shm')
  })

  it.each(['/dev', '/dev/sda', '/proc', '/proc/sys', '/sys', '/sys/fs/cgroup'])('does not open %s', (path) => {
    expect(() => refuseSystemFolders([{ kind: 'write', path, isFolder: true }])).toThrow(
      expect.objectContaining({ code: 'sandbox_unenforceable' }),
    )
  })
})
