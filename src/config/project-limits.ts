import { isTable, type Path, type SourceDocument } from './source/raw.js'

/** Sections that are the user's own to write: where tokens go, what is recorded, what runs for all projects. */
const OWN_SECTIONS = [
  'apps',
  'audit',
  'broker',
  'cli_auth_credentials_store',
  'gateway',
  'launcher',
  'mcp_oauth_credentials_store',
  'mcp_oauth_callback_port',
  'mcp_oauth_callback_url',
  'projects',
]

/** What stands in a project's file and does not count there, each with the path that it is written at. */
export function ignoredInProject({ root }: SourceDocument): readonly Path[] {
  const { hooks, plugins } = root
  const sections = OWN_SECTIONS.filter((name) => Object.hasOwn(root, name)).map((name) => [name])
  const states = isTable(hooks) && hooks.state !== undefined ? [['hooks', 'state']] : []
  const trusted = Object.entries(isTable(plugins) ? plugins : {}).flatMap(([id, policy]) =>
    isTable(policy) && policy.trusted_in !== undefined ? [['plugins', id, 'trusted_in']] : [],
  )
  return [...sections, ...states, ...trusted]
}
