import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { editToml, type TomlMemberEdit } from './toml-edit.js'

const FILE = `# top comment
model = "x" # keep

# about notes
[mcp_servers.notes] # trailing
command = "node" # prog
args = [
  "a", # first
  "b",
]
# env comment
[mcp_servers.notes.env]
A = "1"

# about other
[mcp_servers.other]
url = "http://x" 
[mcp_servers.other.tools.t]
approval_mode = "prompt"

[mcp_servers]
inl = { command = "i", args = ["x"] } # inline

# about trust
[projects."/a/b"]
trust_level = "trusted"
`
const set = (path: string[], value: string | boolean | string[] | Record<string, string>): TomlMemberEdit => ({
  kind: 'set',
  path,
  value,
})
const remove = (...path: string[]): TomlMemberEdit => ({ kind: 'remove', path })

/** Lines that went and came. */
function change(text: string, ...edits: TomlMemberEdit[]): string[] {
  const before = text.split('\n')
  const after = editToml(text, edits).split('\n')
  const gone = [...before]
  const come: string[] = []
  for (const line of after) {
    const at = gone.indexOf(line)
    if (at === -1) come.push(`+${line}`)
    else gone.splice(at, 1)
  }
  return [...gone.map((line) => `-${line}`), ...come]
}

describe('editing TOML', () => {
  it('removes a server with its sub-tables and its own comments, and no other line', () => {
    expect(change(FILE, remove('mcp_servers', 'notes'))).toEqual([
      '-# about notes',
      '-[mcp_servers.notes] # trailing',
      '-command = "node" # prog',
      '-args = [',
      '-  "a", # first',
      '-  "b",',
      '-]',
      '-# env comment',
      '-[mcp_servers.notes.env]',
      '-A = "1"',
      '-',
    ])
    expect(editToml(FILE, [remove('mcp_servers', 'notes')])).toContain('keep\n\n# about other\n[mcp_servers.other]')
  })

  it('removes an inline server', () => {
    expect(change(FILE, remove('mcp_servers', 'inl'))).toEqual(['-inl = { command = "i", args = ["x"] } # inline'])
  })

  it.each([
    ['after the last member of a section', ['mcp_servers', 'other', 'enabled'], ['+enabled = false']],
    [
      'into an inline table, its comment kept',
      ['mcp_servers', 'inl', 'enabled'],
      [
        '-inl = { command = "i", args = ["x"] } # inline',
        '+inl = { command = "i", args = ["x"], enabled = false } # inline',
      ],
    ],
    [
      'into a section of its own when only sub-tables exist',
      ['mcp_servers', 'other', 'tools', 'enabled'],
      ['+[mcp_servers.other.tools]', '+enabled = false', '+'],
    ],
  ])('puts a new member %s', (_, path, expected) => {
    expect(change(FILE, set(path, false))).toEqual(expected)
  })

  it('puts it under its section, not under the comment of the next one', () => {
    const edited = editToml(FILE, [set(['mcp_servers', 'notes', 'enabled'], false)])
    expect(edited).toContain(']\nenabled = false\n# env comment\n[mcp_servers.notes.env]')
  })

  it('replaces a value and keeps the comment behind it', () => {
    expect(change(FILE, set(['mcp_servers', 'notes', 'command'], 'deno'))).toEqual([
      '-command = "node" # prog',
      '+command = "deno" # prog',
    ])
  })

  it('appends a new server as sections', () => {
    const edited = editToml('model = "x"', [
      { kind: 'set', path: ['mcp_servers', 'a b'], value: { command: 'c', args: ['1'], env: { K: 'v"\u007f' } } },
    ])
    expect(edited).toBe(
      'model = "x"\n\n[mcp_servers."a b"]\ncommand = "c"\nargs = ["1"]\n\n[mcp_servers."a b".env]\nK = "v\\"\\u007f"\n',
    )
  })

  it('adds to a table that is written inline as a whole', () => {
    const edited = editToml('mcp_servers = { a = { command = "a" } }\n', [
      { kind: 'set', path: ['mcp_servers', 'b'], value: { command: 'b' } },
    ])
    expect(edited).toBe('mcp_servers = { a = { command = "a" }, b = { command = "b" } }\n')
  })

  it('follows dotted keys', () => {
    const dotted = 'mcp_servers.a.command = "a" # one\nmodel = "x"\n'
    expect(change(dotted, set(['mcp_servers', 'a', 'enabled'], false))).toEqual(['+mcp_servers.a.enabled = false'])
    expect(change(dotted, remove('mcp_servers', 'a'))).toEqual(['-mcp_servers.a.command = "a" # one'])
  })

  it('keeps Windows line ends', () => {
    const edited = editToml('[mcp_servers.a]\r\ncommand = "a"\r\n', [
      set(['mcp_servers', 'a', 'enabled'], false),
      { kind: 'set', path: ['mcp_servers', 'b'], value: { command: 'b' } },
    ])
    expect(edited).toBe(
      '[mcp_servers.a]\r\ncommand = "a"\r\nenabled = false\r\n\r\n[mcp_servers.b]\r\ncommand = "b"\r\n',
    )
  })

  it('leaves a schema line and the comment that opens the file alone', () => {
    const text = '# mine\n[mcp_servers.a]\ncommand = "a"\n\n#:schema ./x.json\n[mcp_servers.b]\ncommand = "b"\n'
    expect(editToml(text, [remove('mcp_servers', 'a'), remove('mcp_servers', 'b')])).toBe(
      '# mine\n\n#:schema ./x.json\n',
    )
  })

  it('does what it is asked, and keeps every other comment, in any style of writing', () => {
    fc.assert(
      fc.property(fc.array(style(), { minLength: 1, maxLength: 4 }), anyEdit(), (styles, edit) => {
        const text = styles.map((write, index) => write(`s${index}`, index)).join('')
        const before = JSON.parse(JSON.stringify(parse(text)))
        const edited = editToml(text, [edit])
        expect(shed(JSON.parse(JSON.stringify(parse(edited))))).toEqual(shed(withEdit(before, edit)))
        const kept = [...text.matchAll(/# of s(\d)/g)].filter(([, index]) => `s${index}` !== edit.path[1])
        for (const [comment] of kept) expect(edited).toContain(comment)
      }),
      { numRuns: 500 },
    )
  })
})

type Write = (name: string, index: number) => string

function style(): fc.Arbitrary<Write> {
  return fc.constantFrom<Write>(
    (name, index) => `# of ${name}\n[mcp_servers.${name}]\ncommand = "c${index}" # of ${name}\n\n`,
    (name) => `[mcp_servers.${name}]\ncommand = "c"\n[mcp_servers.${name}.env]\n# of ${name}\nA = "1"\n`,
    (name) => `[mcp_servers.${name}.tools.t]\n# of ${name}\n[mcp_servers.${name}.env]\nA = '1'\n`,
    (name) =>
      `[mcp_servers.${name}]\nenv.A = "1" # of ${name}\nenv.B = """\n# no comment\n[x]"""\nargs = [\n "]", # of ${name}\n]`.concat(
        '\n',
      ),
    (name) => `[mcp_servers.${name}]\nenv = { A = "1", B = '2' } # of ${name}\ntools = {}\n\n\n`,
    (name) => `  [ mcp_servers . "${name}" ]\n  command='c'# of ${name}\n`,
  )
}

function anyEdit(): fc.Arbitrary<TomlMemberEdit> {
  const name = fc.constantFrom('s0', 's1', 'new')
  const below = fc.constantFrom(['enabled'], ['command'], ['env', 'A'], ['env', 'Z'], ['tools', 't', 'approval_mode'])
  return fc.oneof(
    fc.tuple(name, below).map(([server, rest]) => set(['mcp_servers', server, ...rest], 'v')),
    fc.tuple(name, below).map(([server, rest]) => remove('mcp_servers', server, ...rest)),
    name.map((server) => remove('mcp_servers', server)),
    name.map((server) => ({ kind: 'set', path: ['mcp_servers', server, 'env'], value: { K: 'v' } }) as const),
  )
}

type Tree = { [name: string]: unknown }

function withEdit(root: Tree, edit: TomlMemberEdit): Tree {
  const path = [...edit.path]
  const last = path.pop() ?? ''
  let at: Tree = root
  for (const part of path) {
    const next = at[part]
    if (edit.kind === 'remove' && next === undefined) return root
    at[part] = next ?? {}
    at = at[part] as Tree
  }
  if (edit.kind === 'remove') delete at[last]
  else at[last] = edit.value
  return root
}

/** Without empty tables: how they are written decides whether a removal leaves them. */
function shed(tree: Tree): Tree {
  const entries = Object.entries(tree).map(([name, value]) => [name, isTree(value) ? shed(value) : value] as const)
  return Object.fromEntries(entries.filter(([, value]) => !isTree(value) || Object.keys(value).length > 0))
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
