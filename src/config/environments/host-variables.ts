import type { EnvironmentEntry } from './settings.js'

/** Where `ssh`, `docker`, `podman` and `kubectl` find what they connect with. Places, no secrets. */
export const CONNECTING_VARIABLES: readonly string[] = [
  'SSH_AUTH_SOCK',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'CONTAINER_HOST',
  'KUBECONFIG',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
]

/** Variables of the host that connecting to this environment depends on, beside those that every child gets. */
export function connectingVariables({ connection }: Pick<EnvironmentEntry, 'connection'>): readonly string[] {
  if (connection.kind === 'command') return CONNECTING_VARIABLES
  return connection.bearerTokenEnvVar === undefined ? [] : [connection.bearerTokenEnvVar]
}
