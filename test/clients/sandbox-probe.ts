import type { SandboxTree } from './sandbox-tree.js'

/** What the probe can't know: where something listens on this machine, and a process outside. */
export interface Outside {
  readonly port: number
  readonly socket: string
  readonly pid: number
}

/** Paths of the tree, tried one by one; what an operation changes it undoes. */
const TRIED = {
  read: [
    'ws/top.txt',
    'ws/.env',
    'ws/.git/config',
    'ws/sub/in/f.txt',
    'ws/sub/in/g.env',
    'ws/out/secret.txt',
    'other/secret.txt',
    'other/x.env',
    'other/deep/er/y.txt',
    'link/secret.txt',
    'tmp/t.txt',
    '/etc/passwd',
  ],
  list: ['ws', 'ws/sub', 'ws/.git', 'other', 'other/deep', 'tmp', '/var', '/dev'],
  append: [
    'ws/top.txt',
    'ws/.env',
    'ws/.git/config',
    'ws/sub/in/f.txt',
    'ws/out/secret.txt',
    'other/secret.txt',
    'other/deep/er/y.txt',
    'link/secret.txt',
    'tmp/t.txt',
    '/etc/passwd',
    '/dev/null',
    '/proc/sys/vm/swappiness',
  ],
  create: [
    'new.txt',
    'ws/new.txt',
    'ws/new.env',
    'ws/.git/new',
    'ws/sub/new',
    'ws/sub/in/new',
    'other/new.txt',
    'tmp/new.txt',
    '/tmp/reeve-probe',
    '/dev/shm/reeve-probe',
    '/etc/reeve-probe',
    '/reeve-probe',
  ],
  mkdir: [
    'ws/.agents',
    'ws/.codex',
    'ws/.aws',
    'ws/sub/.git',
    'ws/missing',
    'ws/missing-too',
    'other/.git',
    'tmp/.git',
  ],
  move: ['ws/.git', 'ws/.env', 'ws/sub', 'ws/sub/in', 'ws/out', 'other/deep', 'link'],
} as const

/**
 * A script for `sh` that tries every operation and prints `<operation> yes` or `<operation> no`, a line each. What it opens
 * to append it does not write to, so that it harms nothing even where nothing restricts it.
 */
export function probeScript(tree: SandboxTree, outside: Outside): string {
  const lines = Object.entries(TRIED).flatMap(([operation, paths]) =>
    paths.map((path) => `try '${operation} ${path}' ${operation} '${path.startsWith('/') ? path : tree.at(path)}'`),
  )
  return `
try() { name=$1; shift; if "$@" >/dev/null 2>&1 </dev/null; then echo "$name yes"; else echo "$name no"; fi; }
read() { cat "$1"; }
list() { ls "$1"; }
append() { ( : >> "$1" ); }
create() { [ ! -e "$1" ] && ( : > "$1" ) && rm "$1"; }
move() { mv "$1" "$1.moved" && mv "$1.moved" "$1"; }
tcp() { bash -c 'exec 3<>/dev/tcp/127.0.0.1/'"$1"; }
unix() { perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new($ARGV[0]) or exit 1' "$1"; }
mkdir() { [ ! -e "$1" ] && command mkdir "$1" && rmdir "$1"; }
${lines.join('\n')}
try 'connect tcp' tcp ${outside.port}
try 'connect unix' unix '${outside.socket}'
try 'signal outside' kill -0 ${outside.pid}
try 'is told of no network' test "$CODEX_SANDBOX_NETWORK_DISABLED" = 1
try 'starts in the workspace' test "$(pwd -P)" = '${tree.at('ws')}'
`
}

/** What a run of the script says; undefined when it was not run. */
export function readProbe(stdout: string): ReadonlyMap<string, string> | undefined {
  const answers = [...stdout.matchAll(/^(.+) (yes|no)$/gm)].map(([, name = '', answer = '']) => [name, answer] as const)
  return answers.length === 0 ? undefined : new Map(answers)
}
