import { described, list, map, type Shape, seconds, table, text, wrongType } from '../schema/shape.js'
import { isTable } from '../source/raw.js'

/** Read and left aside: what an executor's own skills need is not ours to provide. */
const skills: Shape<unknown> = {
  schema: { type: 'object' },
  read(value, path) {
    if (!isTable(value)) throw wrongType(value, 'struct ScopedSkillsConfig', path)
    return value
  },
}

/** Members of one `[[environments]]` entry (reference: executor-protocol, 11); the last three are ours. */
export const ENVIRONMENT_MEMBERS = {
  id: described(text, 'What the environment is called everywhere.', { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  skills: described(skills, 'Accepted for Codex, and ignored.'),
  url: described(text, 'Where the executor listens: ws:// or wss://.', { pattern: '^\\s*wss?://' }),
  auth_bearer_token: described(text, 'Token of the executor. Better: auth_bearer_token_env_var.'),
  program: described(text, 'Command on whose pipes an executor talks: ssh, docker, codex.', { minLength: 1 }),
  args: described(list(text), 'Its arguments.'),
  env: described(map(text), 'Variables of its environment, by value.'),
  cwd: described(text, 'Working directory of the program; below the folder of this file when it is relative.'),
  connect_timeout_sec: described(seconds, 'Seconds to connect to the url.', { default: 10 }),
  initialize_timeout_sec: described(seconds, 'Seconds for the handshake.', { default: 10 }),
  auth_bearer_token_env_var: described(text, 'Variable here that holds the token of the executor.', { minLength: 1 }),
  permissions: described(text, 'Permission profile that servers there are told: of [permissions], or a preset.', {
    minLength: 1,
  }),
  workspace: described(text, 'Folder there that a thread works in which names none; absolute, in its own form.'),
}

export const environmentEntry = table(ENVIRONMENT_MEMBERS)

/** Members that the reference knows, in the order of its error text. */
export const REFERENCE_MEMBERS = [
  'id',
  'skills',
  'url',
  'auth_bearer_token',
  'program',
  'args',
  'env',
  'cwd',
  'connect_timeout_sec',
  'initialize_timeout_sec',
] as const

/** Members of one `[[capability_roots]]` entry. */
export const capabilityRoot = table({
  id: described(text, 'What the plugin is called; unique.', { minLength: 1 }),
  environment: described(text, 'The environment that it is in; `local` is the host.'),
  path: described(text, 'Its folder there; absolute, in the form of the environment.'),
})

/** What editors are told of both sections. */
export const ENVIRONMENT_SECTIONS = {
  environments: {
    description: 'Machines that servers run on, beside this one; over those of environments.toml by id.',
    type: 'array',
    items: { ...environmentEntry.schema, required: ['id'], oneOf: [{ required: ['url'] }, { required: ['program'] }] },
  },
  capability_roots: {
    description: 'Plugin folders in environments, used by every thread that selects the environment.',
    type: 'array',
    items: { ...capabilityRoot.schema, required: ['id', 'environment', 'path'] },
  },
}
